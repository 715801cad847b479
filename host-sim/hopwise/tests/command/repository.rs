//! A copy of the command outside the repository: it knows no path of the sources but the one it is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Folder, elf, words};

/// The root of this repository: tests run in the folder of their crate.
fn repository() -> PathBuf {
    Path::new("../..").canonicalize().expect("the repository")
}

fn installed(folder: &Folder) -> Command {
    let copy = folder.folder().join("hopwise");
    if !copy.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_hopwise"), &copy).expect("a copy");
    }
    let mut command = Command::new(copy);
    for variable in ["HOPWISE_REPO", "HOPWISE_IMAGES", "HOPWISE_PORT", "HOPWISE_BENCH"] {
        command.env_remove(variable);
    }
    command.current_dir(folder.folder());
    command
}

fn copied(folder: &Folder) -> Command {
    let mut command = installed(folder);
    command.args(["emulate", "ring(3)", "--for", "1ms", "--json"]);
    command
}

fn refused(output: &Output, sentence: &str) {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let found = String::from_utf8_lossy(&output.stderr);
    assert_eq!(found, format!("hopwise: {sentence}\n"));
}

#[test]
fn a_copied_binary_says_what_to_do_if_there_is_no_repository() {
    let folder = Folder::new("repository-none");
    let output = copied(&folder).output().expect("the command starts");
    refused(
        &output,
        "the firmware is built from Hopwise's repository: run this inside it, or say where it is with --repo PATH or \
         HOPWISE_REPO, or give a built image with --elf, or a folder of them with --images",
    );
    let wrong = folder.folder().to_str().expect("a path in UTF-8");
    let sentence = format!("{wrong} is not Hopwise's repository: it has no firmware/Cargo.toml of hopwise-firmware");
    let output = copied(&folder).args(["--repo", wrong]).output();
    refused(&output.expect("the command starts"), &sentence);
    let output = copied(&folder).env("HOPWISE_REPO", wrong).output();
    refused(&output.expect("the command starts"), &sentence);
}

#[test]
fn a_copied_binary_finds_the_repository_that_it_is_told() {
    // Built here, so that the copy has nothing to build.
    let compiler = elf().is_some();
    let folder = Folder::new("repository-told");
    let run = |command: &mut Command| {
        let output = command.output().expect("the command starts");
        if compiler {
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            let figures: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(figures["boards"], 3);
            let found = String::from_utf8_lossy(&output.stderr);
            assert_eq!(found, "", "an image that is up to date is quiet");
        } else {
            refused(&output, "there is no ARM compiler: run tools/arm-target once");
        }
    };
    run(copied(&folder).arg("--repo").arg(repository()));
    run(copied(&folder).env("HOPWISE_REPO", repository()));
    run(copied(&folder).current_dir(repository().join("docs")));
}

/// As a release is unpacked: no sources, no compiler, no other program.
#[test]
fn a_copied_binary_takes_the_images_beside_it() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("repository-beside");
    std::fs::create_dir(folder.path("hopwise-images")).expect("a folder");
    std::fs::copy(elf, folder.path("hopwise-images/nucleo-f446re.elf")).expect("a copy");
    let run = |arguments: &[&str]| {
        let output = installed(&folder).args(arguments).env_clear().output();
        output.expect("the command starts")
    };
    let checked = run(&["emulate", "ring(3)", "--check", "--for", "2s", "--json"]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let figures: serde_json::Value = serde_json::from_slice(&checked.stdout).expect("JSON");
    assert_eq!((&figures["pings"], &figures["pongs"]), (&6.into(), &6.into()));
    let other = run(&["emulate", "ring(3)", "--board", "nucleo-g474re"]);
    assert_eq!(other.status.code(), Some(2), "there is no image for that: {other:?}");
}

/// A repository of stand-ins: the ARM target is installed on demand, and whoever waits is told how much there is to build.
#[test]
fn what_is_missing_is_installed_and_built_with_progress() {
    let folder = Folder::new("repository-installs");
    for name in ["firmware", "tools"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    folder.write("firmware/Cargo.toml", "name = \"hopwise-firmware\"\n");
    let installs = "[ $# = 0 ] || exit 1; echo installing >&2; echo some-toolchain";
    folder.program("tools/arm-target", installs);
    let cargo = "case $1 in tree) printf 'a v1\nb v1\na v1 (*)\n';; *) echo '   Compiling a v1' >&2; exit 1;; esac";
    folder.program("cargo", cargo);
    let path = format!(
        "{}:{}",
        folder.folder().display(),
        std::env::var("PATH").expect("a path")
    );
    let output = copied(&folder).env("PATH", path).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    assert!(
        matches!(lines[..], ["installing", _, "Compiling a v1 (1 of 2 at most)", _]),
        "{said}"
    );
}

#[test]
fn images_alone_are_enough_without_repository_or_compiler() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("repository-images");
    let empty = Folder::new("repository-empty");
    std::fs::create_dir(folder.folder().join("images")).expect("a folder");
    std::fs::copy(elf, folder.folder().join("images/nucleo-f446re.elf")).expect("an image");
    // A dry run does not open the boot loader.
    std::fs::write(folder.folder().join("images/nucleo-f446re-boot.elf"), "").expect("a file");
    std::fs::create_dir(empty.folder().join("here")).expect("a folder");
    // Neither cargo nor rustup nor anything else is found.
    let run = |args: &[&str], image: &[&str]| {
        let mut command = installed(&folder);
        command.current_dir(empty.folder().join("here")).env("PATH", "");
        let output = command.args(args).args(image).output().expect("the command starts");
        assert_eq!(output.status.code(), Some(0), "{args:?} {image:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    run(&["mesh", "new", "ring(3)", "-o", "mesh.toml"], &[]);
    let probes = "network = \"ring(3)\"\nboard = \"nucleo-f446re\"\n[[node]]\naddress = 1\nprobe = \"AA\"\n";
    std::fs::write(empty.folder().join("here/probes.toml"), probes).expect("a file");
    let images = folder.path("images");
    for image in [["--elf", elf], ["--images", &images]] {
        let checked = run(&words("emulate ring(3) --check --for 1s --level error", &[]), &image);
        assert!(checked.contains("links up           3 of 3"), "{checked}");
        run(&["check", "mesh.toml", "--emulated"], &image);
        let commands = run(&["flash", "probes.toml", "--only", "1", "--dry-run"], &image);
        let in_folder = format!("{images}/nucleo-f446re.elf");
        let file = if image[0] == "--elf" { elf.into() } else { in_folder };
        let is_it = |line: &str| line.contains("download") && line.ends_with(&file);
        assert!(commands.lines().any(is_it), "{commands}");
        let capture = words("capture mesh.toml --emulated --for 300ms --quiet -o trace.jsonl", &[]);
        run(&capture, &image);
    }
    let output = installed(&folder)
        .args(["emulate", "ring(3)", "--board", "nucleo-f401re", "--images", &images])
        .output()
        .expect("the command starts");
    let missing = format!("{images}: there is no nucleo-f401re.elf in this folder of images");
    refused(&output, &missing);
}

#[test]
fn workflows_and_the_container_name_commands_that_exist() {
    let root = repository();
    let workflows = std::fs::read_dir(root.join(".github/workflows")).expect("a folder");
    let mut files: Vec<PathBuf> = workflows.map(|file| file.expect("a file").path()).collect();
    files.push(root.join("Containerfile"));
    let mut named = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        let words = text.split(|letter: char| letter.is_whitespace() || "\"'`,;()".contains(letter));
        for word in words.filter(|word| word.starts_with("tools/") || word.starts_with("host-sim/")) {
            assert!(root.join(word).exists(), "{}: {word}", file.display());
            named += 1;
        }
    }
    assert!(named > 8, "{named}");
}
