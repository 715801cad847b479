@ How numbers of 64 bits are divided, by the run-time ABI of ARM.
@
@ The compiler's own functions are replaced because they take seven times the flash, and as long for the divisions of every packet: the
@ milliseconds of a time.

@ Quotient (r0, r1) and remainder (r2, r3) of (r0, r1) by (r2, r3), which is not 0.
    function __aeabi_uldivmod
    orrs r12, r1, r3
    bne 1f
    @ Both have 32 bits.
    udiv r12, r0, r2
    mls r2, r12, r2, r0
    mov r0, r12
    bx lr
1:  push {r4, r5, r6, r7}
    orrs r12, r3, r2, lsr #16
    bne 2f
    @ A divisor of 16 bits: the upper word of the quotient, then 16 bits at a time.
    udiv r4, r1, r2
    mls r5, r4, r2, r1
    lsrs r6, r0, #16
    orr r5, r6, r5, lsl #16
    udiv r6, r5, r2
    mls r5, r6, r2, r5
    uxth r0, r0
    orr r5, r0, r5, lsl #16
    udiv r7, r5, r2
    mls r2, r7, r2, r5
    orr r0, r7, r6, lsl #16
    mov r1, r4
    pop {r4, r5, r6, r7}
    bx lr
    @ Any: bit by bit, from the highest on. Quotient and dividend share r0 and r1; the remainder is in r4 and r5,
    @ and has no more bits than were taken from the dividend, so none is lost.
2:  movs r4, #0
    movs r5, #0
    mov r12, #64
3:  adds r0, r0, r0
    adcs r1, r1, r1
    adcs r4, r4, r4
    adcs r5, r5, r5
    subs r6, r4, r2
    sbcs r6, r5, r3
    blo 4f
    subs r4, r4, r2
    sbc r5, r5, r3
    adds r0, #1
4:  subs r12, #1
    bne 3b
    mov r2, r4
    mov r3, r5
    pop {r4, r5, r6, r7}
    bx lr

@ The same of signed numbers; the remainder has the sign of the dividend.
    function __aeabi_ldivmod
    push {r4, r5, r6, lr}
    asrs r4, r1, #31
    asrs r5, r3, #31
    eors r0, r4
    eors r1, r4
    subs r0, r0, r4
    sbcs r1, r4
    eors r2, r5
    eors r3, r5
    subs r2, r2, r5
    sbcs r3, r5
    bl __aeabi_uldivmod
    eors r5, r4
    eors r0, r5
    eors r1, r5
    subs r0, r0, r5
    sbcs r1, r5
    eors r2, r4
    eors r3, r4
    subs r2, r2, r4
    sbcs r3, r4
    pop {r4, r5, r6, pc}
