use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::error::CliError;
use super::mesh::parse_kind;
use super::output::{print, print_json, say, write_file};
use super::table;
use hopwise_rig::boards::{BoardKind, KINDS};
use hopwise_rig::headers;
use hopwise_rig::plan::describe;

#[derive(Args)]
pub(super) struct BoardArgs {
    /// The kind of board [default: list all kinds]
    #[arg(value_name = "BOARD", value_parser = parse_kind)]
    board: Option<&'static BoardKind>,
    /// Draw its headers, with the pins of all links, into this SVG file
    #[arg(long, value_name = "FILE", requires = "board")]
    svg: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &BoardArgs) -> Result<(), CliError> {
    let Some(kind) = args.board else {
        return list(args.json);
    };
    if let Some(path) = &args.svg {
        write_file(path, &headers::svg(kind))?;
        say(&format!("wrote {} (open it in a browser)", path.display()));
    }
    if args.json {
        return print_json(kind);
    }
    print(|out| {
        let (name, chip, links) = (kind.name, kind.chip, kind.links.len());
        writeln!(out, "{name}: {chip}, {links} links; 3.3 V, never 5 V\n")?;
        show_pins(out, kind)
    })
}

pub(super) fn show_pins(out: &mut dyn Write, kind: &BoardKind) -> io::Result<()> {
    let pins = kind.links.iter();
    let pins = pins.map(|uart| vec![uart.name.to_string(), describe(&uart.tx), describe(&uart.rx)]);
    writeln!(out, "{}", table::lines("UART|TX|RX", pins))?;
    writeln!(out, "ground: {}", kind.ground.join(", "))
}

fn list(json: bool) -> Result<(), CliError> {
    if json {
        return print_json(&*KINDS);
    }
    let row = |kind: &&BoardKind| vec![kind.name.to_string(), kind.chip.into(), kind.links.len().to_string()];
    print(|out| writeln!(out, "{}", table::lines("board|chip|links", KINDS.iter().map(row))))
}
