//! `hopwise check --watch`: cable by cable, as one wires.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::error::CliError;
use super::output::{Color, Outcome, colored, print, print_colored, stop_on_ctrl_c};
use hopwise_figures::printable_line;
use hopwise_rig::mesh::Mesh;
use hopwise_rig::plan::{Cable, CableEnd, WiringPlan};
use hopwise_rig::serial_line::SerialMesh;
use hopwise_rig::survey::survey;
use hopwise_rig::wiring_check::{Finding, FindingKind, boards_of, compare};

/// Between two looks at the boards. Links need half a second to come up.
const PAUSE: Duration = Duration::from_millis(300);

/// Says which cable comes next and what is wrong so far, each once, until the first `cables` of the plan are right, or Ctrl-C.
pub(super) fn run(line: &mut SerialMesh, mesh: &Mesh, plan: &WiringPlan, cables: usize) -> Result<Outcome, CliError> {
    let stop = stop_on_ctrl_c()?;
    let mut right = 0;
    let mut said = String::new();
    while right < cables {
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Stopped(format!("{right} of {cables} cables are right")));
        }
        let next = &plan.cables[right];
        let seen = survey(line, mesh, &boards_of(plan, cables));
        let before = right;
        while right < cables && compare(mesh, plan, right + 1, &seen, None).findings.is_empty() {
            right += 1;
            let sentence = format!("cable {right} of {cables} is right");
            print_colored(|out| writeln!(out, "{}", Color::Green.paint(&sentence, colored())))?;
        }
        if right > before {
            continue;
        }
        let report = compare(mesh, plan, right + 1, &seen, None);
        let wrong = report.findings.iter().filter(|finding| !is_to_come(finding, next));
        let mut text = format!("cable {} of {cables}: {}\n", next.number, instruction(next));
        for finding in wrong {
            text += &format!("  {}\n", printable_line(&finding.to_string()));
        }
        if text != said {
            print(|out| write!(out, "{text}"))?;
            said = text;
        }
        line.idle(PAUSE)?;
    }
    print(|out| writeln!(out, "{}: the wiring is as planned", mesh.network))?;
    Ok(Outcome::Done)
}

/// What is not yet there because the next cable is not.
fn is_to_come(finding: &Finding, cable: &Cable) -> bool {
    let of_cable = |end: &CableEnd| (finding.node, finding.port) == (end.node, Some(end.port));
    match finding.kind {
        FindingKind::NoAnswer => finding.node == cable.to.node,
        FindingKind::Missing => of_cable(&cable.from) || of_cable(&cable.to),
        _ => false,
    }
}

fn instruction(cable: &Cable) -> String {
    let end = |end: &CableEnd| format!("board {} {}", end.node, end.uart);
    let (from, to) = (&cable.from, &cable.to);
    let pin = |name: &str, header: &str| match name == header {
        true => name.to_string(),
        false => format!("{name} {header}"),
    };
    format!(
        "{} to {}: TX {} to RX {}, RX {} to TX {}, ground to ground",
        end(from),
        end(to),
        pin(from.tx, from.tx_header),
        pin(to.rx, to.rx_header),
        pin(from.rx, from.rx_header),
        pin(to.tx, to.tx_header)
    )
}
