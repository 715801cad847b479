//! Files of boards: the right ones are read, and each mistake is told with file and field.

use hopwise_boards::firmware::{layout, table};
use hopwise_boards::{DEFAULT, KINDS, kind, names, parse};

const GOOD: &str = include_str!("../../../boards/nucleo-f446re.toml");

#[test]
fn every_file_is_read_and_the_default_is_first() {
    assert_eq!(KINDS[0].name, DEFAULT);
    assert!(names().starts_with("nucleo-f446re, nucleo-f401re, "), "{}", names());
    assert!(KINDS.iter().all(|board| kind(board.name) == Some(board)));
    assert_eq!(kind("nucleo-f103rb"), None);
}

/// What stands in the good file, what stands there instead, and what is said then.
const MISTAKES: &str = r#"
led = ~ leds = ~ line 6: unknown field `leds`, expected one of
led = "PA5"\n ~  ~ line 1: missing field `led`
"Mini-B" ~ 3 ~ line 5: invalid type: integer `3`, expected a borrowed string
STM32F446RE ~ F446 ~ chip: 'F446' is no chip such as STM32F446RE
0483:374b ~ 0483 ~ probe: '0483' is no vendor and product such as 0483:374b
"PA10" ~ "PA9" ~ link[0].rx.pin: PA9 is already that of link[0].tx.pin
led = "PA5" ~ led = "PC6" ~ led: PC6 is already that of link[4].tx.pin
"PC13" ~ "PC16" ~ button: 'PC16' is no pin such as PA9
"USART3" ~ "USART1" ~ link[1].uart: USART1 is already that of link[0].uart
"USART3" ~ "SPI3" ~ link[1].uart: 'SPI3' is no serial port such as USART1
DMA2_STREAM5 ~ DMA2_STREAM7 ~ link[0].rx.dma: DMA2_STREAM7 is already that of link[0].tx.dma
DMA2_STREAM5 ~ DMA2_CH5 ~ link[0].rx.dma: 'DMA2_CH5' is neither a stream such as DMA1_STREAM0 nor
CN10-33 ~ CN10-21 ~ link[0].rx.header: CN10-21 is already that of link[0].tx.header
CN10-33 ~ CN10-39 ~ link[0].rx.header: 'CN10-39' is no pin of a connector of this board
CN10-33 ~ CN9-1 ~ link[0].rx.header: 'CN9-1' is no pin of a connector of this board
, header = "CN10-33" ~  ~ link[0].rx.header: '' is no pin of a connector of this board
"CN7-8" ~ "CN10-21" ~ ground: CN10-21 is already that of link[0].tx.header
apb1 = 4 ~ apb1 = 3 ~ clock.apb1: no bus divides by 3
mul = 180 ~ mul = 46 ~ clock: a serial port cannot run at 1000000 baud from a bus of 11500000 Hz
prediv = 4 ~ prediv = 0 ~ clock: a serial port cannot run at 1000000 baud from a bus of 0 Hz
0x0800_8000 ~ 0x0800_9000 ~ memory.slots: 0x08009000 to 0x08011000 are no whole sectors
kib = 32 ~ kib = 16 ~ memory.slots: its first half: 0x08008000 to 0x0800a000 are no whole sectors
kib = 256 ~ kib = 512 ~ memory.next: 0x08040000 to 0x080c0000 are no whole sectors
kib = 192 ~ kib = 64 ~ memory.flash.kib: a program needs 192, not 64
0x0804_0000 ~ 0x0802_0000 ~ memory.next: it begins inside flash
0x0800_4000 ~ 0x0800_8000 ~ memory.slots: it begins inside state
0x0800_0000, kib = 16 ~ 0x0800_4000, kib = 16 ~ memory.boot.at: the processor starts at 0x08000000
0x2000_0000 ~ 0x2000_0400 ~ memory.stack.at: a stack that runs over must meet the beginning of RAM
0x2001_2800 ~ 0x2001_5000 ~ memory.ram.at: the stack ends at 0x20012800
, dma = "DMA2_STREAM7" ~  ~ line 30: missing field `dma`
"#;

#[test]
fn each_mistake_is_told_with_file_and_field() {
    for line in MISTAKES.trim().lines() {
        let [what, instead, expected] = line.splitn(3, " ~ ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let what = what.replace("\\n", "\n");
        assert!(GOOD.contains(&what), "{what}");
        let text = GOOD.replacen(&what, instead, 1).leak();
        let said = parse("x", text).expect_err(instead).to_string();
        let begin = format!("boards/x.toml: {expected}");
        assert!(said.starts_with(&begin), "{line}: {said}");
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn a_board_has_links_and_not_too_many_and_a_name_that_it_can_say() {
    let (before, rest) = GOOD.split_once("[[link]]").expect("links");
    let link = rest.split("[[link]]").next().expect("one");
    let console = rest.split_once("[console]").expect("one").1;
    let with = |links: usize| {
        let links = format!("[[link]]{link}").repeat(links);
        let refused = parse("x", format!("{before}{links}[console]{console}").leak());
        refused.expect_err("links").to_string()
    };
    assert_eq!(with(0), "boards/x.toml: link: a board has 1 to 31 links, not 0");
    assert_eq!(with(32), "boards/x.toml: link: a board has 1 to 31 links, not 32");
    let refused = parse("a-name-of-17-long", GOOD).expect_err("a long name").to_string();
    let too_long = "name: a-name-of-17-long has more than 16 characters";
    assert!(refused.ends_with(too_long), "{refused}");
}

#[test]
fn the_firmware_gets_what_the_file_says() {
    let board = kind(DEFAULT).expect("a board");
    let table = table(board);
    let port =
        "USART1: clock 90000000 false, tx PA9 DMA2_CH7 DMA2_STREAM7 DMA2 7, rx PA10 DMA2_CH5 DMA2_STREAM5 DMA2 5;";
    assert!(table.contains(port), "{table}");
    let has_both = table.contains("prediv: DIV4, mul: MUL180, div: DIV2,") && table.contains("pressed_high: false,");
    assert!(has_both, "{table}");
    let layout = layout(board);
    let region = "  FLASH : ORIGIN = 0x08010000, LENGTH = 192K\n";
    assert!(layout.contains(region), "{layout}");
    assert!(layout.ends_with("\n_board_nucleo_f446re = 1;\n"), "{layout}");
}
