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
const MISTAKES: &str = include_str!("mistakes.txt");

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
