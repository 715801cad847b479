//! Networks for other programs.

use hopwise_testing::Folder;

use crate::support::{like, printed, refused, refuses};

#[test]
fn a_network_goes_into_new_files() {
    let folder = Folder::new("export");
    let (output, routes) = (folder.path("ring.anynet"), folder.path("routes.csv"));
    let export = ["export", "ring(4)", "--format", "booksim"];
    let both = [&export[..], &["-o", &output, "--routes", &routes]].concat();
    assert_eq!(printed(&both), "");
    assert_eq!(folder.read("ring.anynet"), printed(&export));
    like(
        &folder.read("routes.csv"),
        "node,destination,port\n0,1,0\n0,2,0\n0,3,1\n[..]",
    );
    std::fs::remove_file(&output).unwrap();
    like(
        &refused(&both),
        "[..]routes.csv: there is something of that name already[..]",
    );
    assert_eq!(folder.files(), ["routes.csv"], "a refused export writes nothing");
    refuses(include_str!("export.txt"));
}
