@ How memory is copied and filled: the functions that compiled code calls for a packet, a frame or the state of a task, by the run-time ABI of ARM.
@
@ The compiler's own are replaced because these are faster, or as fast and a tenth of the size: docs/firmware.md says what a
@ forwarded packet costs. They are not Rust, since the compiler would make a call of `memcpy` of such a loop.

    .syntax unified
    .thumb

    .macro function name
    .section .text.\name, "ax", %progbits
    .global \name
    .type \name, %function
    .thumb_func
\name:
    .endm

@ The name under which compiled code calls a function where it knows that addresses are multiples of 4 or 8.
    .macro aligned name, any
    .global \name
    .type \name, %function
    .thumb_set \name, \any
    .endm

@ void __aeabi_memcpy(dest, source, count). Any bytes: two words at a time, which a Cortex-M4 or M7 reads and writes at any address, then
@ single bytes.
    function __aeabi_memcpy
    subs r2, #8
    blo 2f
1:  ldr r3, [r1], #4
    ldr r12, [r1], #4
    str r3, [r0], #4
    str r12, [r0], #4
    subs r2, #8
    bhs 1b
2:  adds r2, #8
    beq 4f
3:  ldrb r3, [r1], #1
    strb r3, [r0], #1
    subs r2, #1
    bne 3b
4:  bx lr

@ From and to whole words: four at a time, and the rest as any bytes.
    function __aeabi_memcpy4
    subs r2, #16
    blo 2f
    push {r4, r5}
1:  ldm r1!, {r3, r4, r5, r12}
    stm r0!, {r3, r4, r5, r12}
    subs r2, #16
    bhs 1b
    pop {r4, r5}
2:  adds r2, #16
    b __aeabi_memcpy
    aligned __aeabi_memcpy8, __aeabi_memcpy4

@ void __aeabi_memmove(dest, source, count). Any bytes, also where source and destination overlap: from the end if the destination begins
@ within the source.
    function __aeabi_memmove
    subs r3, r0, r1
    cmp r3, r2
    bhs __aeabi_memcpy
    adds r0, r2
    adds r1, r2
    subs r2, #8
    blo 2f
1:  ldr r3, [r1, #-4]!
    ldr r12, [r1, #-4]!
    str r3, [r0, #-4]!
    str r12, [r0, #-4]!
    subs r2, #8
    bhs 1b
2:  adds r2, #8
    beq 4f
3:  ldrb r3, [r1, #-1]!
    strb r3, [r0, #-1]!
    subs r2, #1
    bne 3b
4:  bx lr
    aligned __aeabi_memmove4, __aeabi_memmove
    aligned __aeabi_memmove8, __aeabi_memmove

@ void __aeabi_memset(dest, count, value), which has count and value the other way round than `memset`. Two words at a time, then single bytes.
    function __aeabi_memset
    uxtb r2, r2
    orr r2, r2, r2, lsl #8
    orr r2, r2, r2, lsl #16
    subs r1, #8
    blo 2f
1:  str r2, [r0], #4
    str r2, [r0], #4
    subs r1, #8
    bhs 1b
2:  adds r1, #8
    beq 4f
3:  strb r2, [r0], #1
    subs r1, #1
    bne 3b
4:  bx lr
    aligned __aeabi_memset4, __aeabi_memset
    aligned __aeabi_memset8, __aeabi_memset

@ void __aeabi_memclr(dest, count). Fills with zeros.
    function __aeabi_memclr
    movs r2, #0
    b __aeabi_memset
    aligned __aeabi_memclr4, __aeabi_memclr
    aligned __aeabi_memclr8, __aeabi_memclr
