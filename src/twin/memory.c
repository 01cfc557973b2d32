/* memory.c -- memory for a text that runs on the host: pages that nobody may touch around every
 * tensor and around a block's shared memory, and what to say of whoever does.
 *
 * A tensor ends where a page ends, as near as its alignment allows.  What is left on both sides is
 * filled with a pattern that shows in results and must be there when the run is over. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include "twin/machine.h"

enum {
    PAGE = 4096,
    REACH = 64 << 20, /* untouchable on each side: addresses, not memory */
    TENSORS_MOST = 1024,
    BLOCKS_MOST = 4096,
    SHARED_ALIGN = 1024,
    SIGNAL_BYTES = 64 << 10,
    TICK_SECONDS = 1,
    TICKS_MOST = 60, /* that one thread may run without waiting for another */
};

typedef struct {
    unsigned char *map, *at;
    size_t nmap, n;
} Place;

static Place tensors[TENSORS_MOST];
static Place blocks[BLOCKS_MOST];

/* n bytes at a multiple of align, up to the end of a page where they can. */
static bool place_make(Place *p, size_t n, size_t align)
{
    size_t room = (n + align + PAGE - 1) / PAGE * PAGE, total = room + 2 * REACH;
    unsigned char *map = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                              -1, 0);

    if (map == MAP_FAILED)
        return false;
    if (mprotect(map + REACH, room, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, total);
        return false;
    }
    uintptr_t end = (uintptr_t)map + REACH + room;
    *p = (Place){map, (unsigned char *)((end - n) / align * align), total, n};
    memset(map + REACH, POISON, room);
    return true;
}

/* The first byte beside the place that is not the pattern any more; NULL: none. */
static const unsigned char *place_spoiled(const Place *p)
{
    const unsigned char *from = p->map + REACH, *to = p->map + p->nmap - REACH;

    for (const unsigned char *s = from; s < p->at; s++)
        if (*s != POISON)
            return s;
    for (const unsigned char *s = p->at + p->n; s < to; s++)
        if (*s != POISON)
            return s;
    return NULL;
}

bool memory_take(size_t nbytes, DevicePtr *at)
{
    for (int i = 0; i < TENSORS_MOST; i++)
        if (!tensors[i].map) {
            if (!place_make(&tensors[i], nbytes, TENSOR_ALIGN))
                return false;
            *at = (DevicePtr)(uintptr_t)tensors[i].at;
            return true;
        }
    return false;
}

bool memory_is_tensor(const void *p)
{
    uintptr_t at = (uintptr_t)p;

    for (int i = 0; i < TENSORS_MOST; i++)
        if (tensors[i].map && at - (uintptr_t)tensors[i].map < tensors[i].nmap)
            return true;
    return false;
}

bool memory_give(DevicePtr at)
{
    for (int i = 0; i < TENSORS_MOST; i++)
        if (tensors[i].map && (DevicePtr)(uintptr_t)tensors[i].at == at) {
            munmap(tensors[i].map, tensors[i].nmap);
            tensors[i] = (Place){0};
            return true;
        }
    return false;
}

unsigned char *shared_take(int block, unsigned nbytes)
{
    if (block >= BLOCKS_MOST)
        twin_fail("more than %d blocks run together [twin-fault]", BLOCKS_MOST);
    Place *p = &blocks[block];
    if (p->map && p->n == nbytes) {
        memset(p->at, POISON, nbytes);
        return p->at;
    }
    if (p->map)
        munmap(p->map, p->nmap);
    *p = (Place){0};
    if (!place_make(p, nbytes, SHARED_ALIGN))
        recover_throw(STATUS_MEM, "no memory for the shared memory of a block");
    return p->at;
}

void shared_check(int block, unsigned nbytes)
{
    const unsigned char *at = place_spoiled(&blocks[block]);

    if (at)
        twin_fail("byte %lld was written, of %u bytes of shared memory [twin-bounds]",
                  (long long)(at - blocks[block].at), nbytes);
}

/* ---- what an address belongs to -------------------------------------------------------------- */

static const char *tensor_name(const Loaded *m, const Place *p)
{
    DevicePtr at = (DevicePtr)(uintptr_t)p->at;

    for (int i = 0; m && i < m->func->params.n; i++)
        if (m->tensor[i].at == at)
            return m->func->params.at[i].name;
    for (int s = 0; m && s < m->nstream; s++)
        for (int i = 0; i < m->func->workspaces.n; i++)
            if (m->stream[s].work[i].at == at)
                return m->func->workspaces.at[i]->name;
    return "memory of the runtime";
}

/* "3 bytes past the end of 'A' (64 bytes)", or false: near nothing. */
static bool near_text(const Loaded *m, uintptr_t at, char *text, size_t ntext)
{
    for (int i = 0; i < TENSORS_MOST + BLOCKS_MOST; i++) {
        const Place *p = i < TENSORS_MOST ? &tensors[i] : &blocks[i - TENSORS_MOST];
        uintptr_t map = (uintptr_t)p->map, start = (uintptr_t)p->at, end = start + p->n;
        if (!p->map || at < map || at >= map + p->nmap || (at >= start && at < end))
            continue;
        bool past = at >= end;
        snprintf(text, ntext, "%llu bytes %s '%s', which has %zu",
                 (unsigned long long)(past ? at - end : start - at),
                 past ? "past the end of" : "before the start of",
                 i < TENSORS_MOST ? tensor_name(m, p) : "shared memory", p->n);
        return true;
    }
    return false;
}

bool memory_untouched(const Loaded *m, char *text, size_t ntext)
{
    for (int i = 0; i < TENSORS_MOST; i++) {
        const unsigned char *at = tensors[i].map ? place_spoiled(&tensors[i]) : NULL;
        char where[200];
        if (at && near_text(m, (uintptr_t)at, where, sizeof where)) {
            snprintf(text, ntext, "the text of '%s' writes %s [twin-bounds]", m->func->name, where);
            return false;
        }
    }
    return true;
}

/* ---- faults ---------------------------------------------------------------------------------- */

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM};
static struct sigaction before[COUNT(signals)];
static stack_t stack_before;
static struct itimerval timer_before;
static uint64_t last_switch;
static int same_ticks;
static pthread_t runner; /* whose stack faults may leave */
static bool catching;

static void fault_text(int signal, const siginfo_t *info)
{
    char where[200];

    if (signal == SIGFPE)
        twin_fail("a whole number is divided by 0, or the least one by -1 [twin-fault]");
    if (signal == SIGILL)
        twin_fail("a number leaves the range of its type, or a shift its width [twin-fault]");
    if (signal == SIGVTALRM)
        twin_fail("it runs on and on without waiting for anybody [twin-deadlock]");
    if (near_text(machine.module, (uintptr_t)info->si_addr, where, sizeof where))
        twin_fail("it reads or writes %s [twin-bounds]", where);
    twin_fail("it reads or writes at %p, which is nowhere, or at an address that is not aligned "
              "[twin-fault]", info->si_addr);
}

/* Leaves by the jump in twin_fail: a text that is at fault does not go on. */
static void fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    bool ours = machine.self && pthread_equal(pthread_self(), runner);
    if (signal == SIGVTALRM) {
        same_ticks = last_switch == machine.nswitch ? same_ticks + 1 : 0;
        last_switch = machine.nswitch;
        if (same_ticks < TICKS_MOST || !ours)
            return;
    }
    if (!ours) {
        for (int i = 0; i < COUNT(signals); i++)
            if (signals[i] == signal)
                sigaction(signal, &before[i], NULL);
        return;
    }
    machine.in_fault = true;
    fault_text(signal, info);
}

void faults_catch(void)
{
    static void *stack;
    struct sigaction a = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct itimerval t = {{TICK_SECONDS, 0}, {TICK_SECONDS, 0}};

    if (!stack)
        stack = mmap(NULL, SIGNAL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                     0);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = SIGNAL_BYTES}, &stack_before);
    sigemptyset(&a.sa_mask);
    for (int i = 0; i < COUNT(signals); i++)
        sigaction(signals[i], &a, &before[i]);
    same_ticks = 0;
    runner = pthread_self();
    catching = true;
    setitimer(ITIMER_VIRTUAL, &t, &timer_before);
}

void faults_leave(void)
{
    if (!catching)
        return;
    catching = false;
    setitimer(ITIMER_VIRTUAL, &timer_before, NULL);
    signal(SIGVTALRM, SIG_IGN); /* a tick on its way would end the process: it is dropped here */
    for (int i = 0; i < COUNT(signals); i++)
        sigaction(signals[i], &before[i], NULL);
    sigaltstack(&stack_before, NULL);
}
