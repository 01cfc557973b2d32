// agree.wgsl -- what every thread has found the same, so that validators know it too: the first thread's.

fn tl_agree(x: bool, first: bool) -> bool {
    if (first) { tl_agreed = select(0, 1, x); }
    return workgroupUniformLoad(&tl_agreed) != 0;
}

fn tl_agree_i32(x: i32, first: bool) -> i32 {
    if (first) { tl_agreed = x; }
    return workgroupUniformLoad(&tl_agreed);
}
