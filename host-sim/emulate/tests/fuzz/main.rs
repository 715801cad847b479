//! Fuzz targets: a file may say anything, and whoever reads it does not panic. `tools/fuzz` also limits the memory that this takes.

use hopwise_emulate::about::About;
use hopwise_emulator::image::Image;
use hopwise_experiment::plan::Plan;
use hopwise_experiment::{load::Load, sim::Sim};
use hopwise_language::script::{Script, ScriptError};
use hopwise_networks::tables;
use hopwise_node::store::Slot;
use hopwise_rig::board_log::LogFormat;
use hopwise_rig::mesh::Mesh;
use hopwise_rig::update::{Linked, Package};
use hopwise_testing::fuzz::Input;
use hopwise_trace::reader::Reader;
use hopwise_trace::report::Report;

/// Reads what is a good file, and changed by the bytes of a fuzzer.
fn fuzz<T, E>(file: &[u8], read: impl Fn(&[u8]) -> Result<T, E> + std::panic::RefUnwindSafe) {
    assert!(read(file).is_ok());
    hopwise_testing::check!(64, |bytes: &[u8]| drop(read(&Input::new(bytes).change(file.to_vec()))));
}

fn fuzz_text<T, E>(name: &str, read: impl Fn(&str) -> Result<T, E> + std::panic::RefUnwindSafe) {
    let file = std::fs::read(format!("tests/fuzz/files/{name}")).expect("a file");
    fuzz(&file, |bytes| std::str::from_utf8(bytes).map(&read).ok().transpose());
}

#[test]
fn a_graph() {
    fuzz_text("graph.edges", tables::read);
}

#[test]
fn a_mesh_file() {
    fuzz_text("mesh.toml", |text| Mesh::parse(text).map(|mesh| mesh.template()));
}

#[test]
fn an_experiment() {
    fuzz_text("experiment.toml", |text| Plan::parse(text, &[&Load, &Sim]));
}

#[test]
fn a_script() {
    fuzz_text("script.txt", |text| {
        let told = Script::parse(text)?.to_string();
        let again = Script::parse(&told)?.to_string();
        assert_eq!(again, told);
        Ok::<_, ScriptError>(())
    });
}

#[test]
fn a_trace() {
    fuzz_text("trace.jsonl", |text| Report::read(Reader::new(text.as_bytes())?, None));
}

/// 64 bytes for the flash of a 32-bit ARM, and so many functions that have the same name.
fn elf(functions: u32, name: u32) -> Vec<u8> {
    let (symbols, names) = (16 * (functions + 1), (name & !3) + 8);
    let names_at = 148 + symbols;
    let parts: [&[u32]; 10] = [
        &[0x464c_457f, 0x0001_0101, 0, 0, 0x0028_0002, 1, 0x0800_0000],
        &[52, names_at + names, 0, 0x0020_0034, 0x0028_0001, 0x0002_0003],
        &[1, 84, 0x0800_0000, 0x0800_0000, 64, 64, 5, 4],
        &[0; 16],
        &[1, 0x0800_0001, 4, 0xfff1_0002].repeat(functions as usize + 1),
        &[0x6161_6100],
        &vec![0x6161_6161; name as usize / 4],
        &[0; 11],
        &[0, 2, 0, 0, 148, symbols, 2, 1, 4, 16],
        &[0, 3, 0, 0, names_at, names, 0, 0, 1, 0],
    ];
    parts.concat().iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn an_elf_file() {
    let image = Image::from_elf(&elf(2, 9)).expect("an image");
    let names: Vec<&str> = image.symbols().iter().map(|symbol| symbol.name.as_str()).collect();
    assert_eq!((image.bytes().len(), &names[..]), (64, &["aaaaaaaaaaa"; 2][..]));
    let refusal = Image::from_elf(&elf(200, 20_000)).expect_err("longer names than a file can have");
    assert_eq!(refusal.to_string(), "the names of its symbols are longer than the file");
    fuzz(&elf(2, 9), |bytes| {
        let _ = (LogFormat::of_elf(bytes), About::of(bytes));
        Image::from_elf(bytes)
    });
}

#[test]
fn an_update_package() {
    let images = [Slot::First, Slot::Second].map(|slot| Linked::new("nucleo-f446re", slot, vec![3; 40]));
    fuzz(&Package::new("nucleo-f446re", images).write(), Package::read);
}
