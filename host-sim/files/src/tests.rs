use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

/// A file with a good text, in a folder of its own.
fn good() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "good").unwrap();
    (folder, path)
}

fn names(folder: &tempfile::TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_what_it_was_until_the_new_one_is_whole() {
    let (folder, path) = good();
    for create in [NewFile::create, NewFile::create_live] {
        let mut new = create(&path).unwrap();
        new.write_all(&[b'x'; 100_000]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"good");
        drop(new);
        let found = (fs::read(&path).unwrap(), names(&folder));
        assert_eq!(found, (b"good".to_vec(), vec!["file".to_string()]));
    }
    write_whole(&path, "better").unwrap();
    let found = (fs::read_to_string(&path).unwrap(), names(&folder));
    assert_eq!(found, ("better".into(), vec!["file".into()]));
}

#[test]
fn what_there_is_of_a_file_can_be_kept_beside_the_old_one() {
    let (folder, path) = good();
    let mut new = NewFile::create_live(&path).unwrap();
    new.write_all(b"half").unwrap();
    let beside = new.keep_partial().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "good");
    assert_eq!(fs::read_to_string(&beside).unwrap(), "half");
    let name = beside.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("file.") && name.ends_with(".partial"), "{name}");
    assert_eq!(names(&folder).len(), 2);
}

#[test]
fn where_there_is_no_file_a_live_one_is_seen_at_once() {
    let (folder, path) = good();
    let new_path = folder.path().join("new");
    let mut new = NewFile::create_live(&new_path).unwrap();
    new.write_all(b"begun").unwrap();
    new.flush().unwrap();
    assert_eq!(fs::read_to_string(&new_path).unwrap(), "begun");
    assert_eq!(new.keep_partial().unwrap(), new_path);
    let mut whole = NewFile::create(&folder.path().join("other")).unwrap();
    whole.write_all(b"begun").unwrap();
    whole.flush().unwrap();
    assert!(!folder.path().join("other").exists() && path.exists());
}

#[test]
fn a_file_that_is_there_is_not_made_anew() {
    let (folder, path) = good();
    let found = create_whole(&path, "new").unwrap_err().kind();
    assert_eq!(found, io::ErrorKind::AlreadyExists);
    let found = (fs::read_to_string(&path).unwrap(), names(&folder));
    assert_eq!(found, ("good".into(), vec!["file".into()]));
    create_whole(&folder.path().join("new"), "new").unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("new")).unwrap(), "new");
}

#[test]
fn links_are_followed_and_stay_links() {
    let (folder, path) = good();
    for (name, leads_to) in [("link", "file"), ("to-nothing", "later")] {
        let link = folder.path().join(name);
        symlink(leads_to, &link).unwrap();
        write_whole(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(folder.path().join(leads_to)).unwrap(), "new");
    }
    assert_eq!(fs::read_to_string(path).unwrap(), "new");
}

#[test]
fn permissions_stay() {
    let (folder, path) = good();
    for mode in [0o600, 0o666] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        write_whole(&path, "new").unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, mode);
    }
    // Those of a new file are the ones that any program gives it.
    let (ours, usual) = (folder.path().join("ours"), folder.path().join("usual"));
    write_whole(&ours, "").unwrap();
    fs::write(&usual, "").unwrap();
    assert_eq!(ours.metadata().unwrap().mode(), usual.metadata().unwrap().mode());
}

#[test]
fn what_is_no_file_is_written_to() {
    write_whole(Path::new("/dev/null"), "nothing").unwrap();
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    let (folder, _) = good();
    assert!(NewFile::create(folder.path()).is_err());
    assert!(check_writable(folder.path()).is_err() && check_writable(Path::new("/dev/null")).is_ok());
    assert!(
        check_writable(&folder.path().join("file")).is_ok() && check_writable(&folder.path().join("no/such")).is_err()
    );
    assert_eq!(names(&folder), ["file"], "nothing is changed");
    assert!(NewFile::create(&folder.path().join("no/such")).is_err());
    assert!(NewFile::create(Path::new("/")).is_err());
}

#[test]
fn one_file_has_many_names() {
    let (folder, path) = good();
    let [link, hard, other] = ["link", "hard", "other"].map(|name| folder.path().join(name));
    symlink(&path, &link).unwrap();
    fs::hard_link(&path, &hard).unwrap();
    fs::write(&other, "good").unwrap();
    let spelled = folder.path().join(".").join("file");
    for name in [&path, &link, &hard, &spelled] {
        assert!(is_same_file(&path, name), "{}", name.display());
    }
    assert!(!is_same_file(&path, &other) && !is_same_file(&path, &folder.path().join("none")));
    assert!(!is_same_file(&folder.path().join("none"), &folder.path().join("none")));
}

#[test]
fn a_private_file_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    create_private(&path).unwrap().write_all(b"secret").unwrap();
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(create_private(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
}
