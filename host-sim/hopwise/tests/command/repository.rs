//! Files of the repository name what exists. (A copy of the command outside of it is in `transcripts/repository.txt`.)

use std::path::{Path, PathBuf};

#[test]
fn workflows_and_the_container_name_commands_that_exist() {
    let root = Path::new("../..").canonicalize().expect("the repository");
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
