/* Registers out of the notes of AMD's code objects. */
#include "test.h"
#include "target/hip/rt/hip.h"

/* Two kernels as such a file has them: the name of one is the end of the other's. */
static const char notes[] =
    "\x7f" "ELF junk"
    "\xab.agpr_count\x40\xb9.group_segment_fixed_size\xcd\x20\x00"
    "\xa7.symbol\xad" "my_add_kernel.kd" "\xab.vgpr_count\xcc\xe8\xb1.vgpr_spill_count\x03\xaf.wavefront_size\x40"
    "\xab.agpr_count\x00\xb9.group_segment_fixed_size\x00"
    "\xa7.symbol\xa6" "add.kd" "\xab.vgpr_count\x0c\xb1.vgpr_spill_count\x00\xaf.wavefront_size\x40";

TEST(code_objects_tell_registers)
{
    HipResources r;

    CHECK(hip_resources(notes, sizeof notes, "add", &r));
    CHECK_INT(r.vgprs, 12);
    CHECK_INT(r.agprs, 0);
    CHECK_INT(r.spilled, 0);
    CHECK_INT(r.shared_bytes, 0);
    CHECK(!hip_resources(notes, sizeof notes, "kernel", &r));
    CHECK(!hip_resources(notes, sizeof notes / 2, "add", &r));
    CHECK(!hip_resources(NULL, 0, "add", &r));
}

TEST(code_objects_with_numbers_of_several_bytes)
{
    HipResources r;
    char text[sizeof notes];

    memcpy(text, notes, sizeof text);
    char *name = memmem(text, sizeof text, "\xad" "my_add", 7);
    *name = (char)(0xa0 | 16); /* as long as it is */
    CHECK(hip_resources(text, sizeof text, "my_add_kernel", &r));
    CHECK_INT(r.vgprs, 232);
    CHECK_INT(r.agprs, 64);
    CHECK_INT(r.spilled, 3);
    CHECK_INT(r.shared_bytes, 8192);
}
