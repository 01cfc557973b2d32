/* threads.h -- threads of a block as fibers: see emit_thread_kernel. */
