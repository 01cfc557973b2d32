/* What ascendc_library makes of a kernel; here it prints what it is given. */
#include <acl/acl.h>
template <class... Arguments> static inline uint32_t aclrtlaunch_main_kernel(uint32_t blocks, aclrtStream, Arguments... arguments)
{
    return tl_launched("main_kernel", blocks, arguments...);
}
