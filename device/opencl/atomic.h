/* atomic.h -- what is written before it is seen by whoever sees what is written behind it. */

#define tl_fence() mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
