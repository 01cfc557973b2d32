// print.wgsl -- room for the words of a line that a thread prints; 0 where there is none. The first word counts what was asked for.

fn tl_print_room(n: u32) -> u32 {
    let at = atomicAdd(&tl_printed[0], n);
    return select(0u, at + 1u, at + n < arrayLength(&tl_printed));
}
