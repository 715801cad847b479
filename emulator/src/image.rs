//! A firmware image: what is flashed, its instructions decoded, and its symbols.

use std::ops::Range;

use object::read::elf::{ElfFile32, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind, elf};

use crate::cpu::decode::decode;
use crate::cpu::instruction::Decoded;

/// Where flash begins.
pub const FLASH: u32 = 0x0800_0000;

/// No chip here has more flash.
const MAX_SIZE: u32 = 2 << 20;

/// Where a program can be that a debug probe puts into RAM, and no file has more pieces of one.
const RAM: Range<u32> = 0x1000_0000..0x4000_0000;
const MAX_PIECES: usize = 16;

/// Half words within which a comparison and its branch are executed as one: 32 bytes.
const PAIRED: usize = 16;

/// A function or variable of the firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// As the linker wrote it.
    pub name: String,
    /// Without the Thumb bit.
    pub address: u32,
    /// In bytes; 0 for labels.
    pub size: u32,
    /// Whether it is code.
    pub is_function: bool,
}

/// A firmware image, decoded once and shared by all boards that run it.
#[derive(Debug)]
pub struct Image {
    bytes: Vec<u8>,
    code: Vec<Decoded>,
    symbols: Vec<Symbol>,
    /// What a program that runs from RAM has there: addresses and bytes.
    ram: Vec<(u32, Vec<u8>)>,
}

/// Why a file is no firmware.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotFirmware(String);

impl Image {
    /// Reads an ELF file for a Cortex-M: what its program headers put into the flash; if they put nothing there, what they put into the RAM.
    pub fn from_elf(file: &[u8]) -> Result<Self, NotFirmware> {
        let elf = ElfFile32::<Endianness>::parse(file)
            .map_err(|error| NotFirmware(format!("no 32-bit ELF file: {error}")))?;
        let endian = elf.endian();
        if elf.elf_header().e_machine(endian) != elf::EM_ARM || endian != Endianness::Little {
            return Err(NotFirmware("an ELF file, but not for a little-endian ARM".into()));
        }
        let (mut bytes, mut ram) = (Vec::new(), Vec::new());
        for header in elf.elf_program_headers() {
            if header.p_type(endian) != elf::PT_LOAD || header.p_filesz(endian) == 0 {
                continue;
            }
            let address = header.p_paddr(endian);
            let data = || {
                let data = header.data(endian, file);
                data.map_err(|()| NotFirmware("the ELF file is cut short".into()))
            };
            let offset = address.wrapping_sub(FLASH);
            if offset >= MAX_SIZE {
                if RAM.contains(&address) && ram.len() < MAX_PIECES {
                    ram.push((address, data()?.to_vec()));
                }
                continue;
            }
            let data = data()?;
            let (begin, end) = (offset as usize, offset as usize + data.len());
            if end > MAX_SIZE as usize {
                return Err(NotFirmware("it does not fit into the flash of any STM32F4".into()));
            }
            if bytes.len() < end {
                bytes.resize(end, 0xff);
            }
            bytes[begin..end].copy_from_slice(data);
        }
        match (bytes.is_empty(), ram.is_empty()) {
            (true, true) => {
                return Err(NotFirmware(format!(
                    "an ELF file that puts nothing into the flash at {FLASH:#010x}, nor into the RAM"
                )));
            }
            (true, false) => {}
            (false, _) => ram.clear(),
        }
        let symbols = read_symbols(&elf, file.len());
        let symbols = symbols.ok_or_else(|| NotFirmware("the names of its symbols are longer than the file".into()))?;
        Ok(Image {
            ram,
            ..Self::new(bytes, symbols)
        })
    }

    /// The contents of the flash from its beginning, without symbols.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self::new(bytes, Vec::new())
    }

    /// The same image with a boot loader at the beginning of the flash.
    pub fn with_loader(&self, loader: &Image) -> Self {
        let mut bytes = self.bytes.clone();
        bytes.resize(bytes.len().max(loader.bytes.len()), 0xff);
        bytes[..loader.bytes.len()].copy_from_slice(&loader.bytes);
        Self::new(bytes, self.symbols.clone())
    }

    fn new(mut bytes: Vec<u8>, symbols: Vec<Symbol>) -> Self {
        bytes.resize(bytes.len().next_multiple_of(4), 0xff);
        let half = |place: usize| match bytes.get(place * 2..place * 2 + 2) {
            Some(half) => u16::from_le_bytes([half[0], half[1]]),
            None => 0xffff,
        };
        let mut code: Vec<Decoded> = (0..bytes.len() / 2)
            .map(|place| decode(FLASH + place as u32 * 2, half(place), half(place + 1)).frequent())
            .collect();
        for place in 0..code.len() {
            let after = place + usize::from(code[place].length) / 2;
            // A board can have a sector of its own after this one: pairs stay within pieces that are smaller than any sector.
            if place / PAIRED == after / PAIRED && after < code.len() {
                code[place] = code[place].with_branch(&code[after]);
            }
        }
        Image {
            bytes,
            code,
            symbols,
            ram: Vec::new(),
        }
    }

    /// The contents of the flash from its beginning.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What a program that runs from RAM has there: addresses and bytes. Its vectors are first. None of one that runs from the flash.
    pub fn ram(&self) -> &[(u32, Vec<u8>)] {
        &self.ram
    }

    /// One instruction for every halfword, whether one begins there or not.
    pub(crate) fn code(&self) -> &[Decoded] {
        &self.code
    }

    /// All symbols by address.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Where a symbol is.
    pub fn address_of(&self, name: &str) -> Option<u32> {
        let symbol = self.symbols.iter().find(|symbol| symbol.name == name);
        symbol.map(|symbol| symbol.address)
    }

    /// The function that holds an address.
    pub fn function_at(&self, address: u32) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let near = self.symbols[..after].iter().rev();
        near.take_while(|symbol| address - symbol.address < 0x1_0000)
            .find(|symbol| symbol.is_function && address - symbol.address < symbol.size.max(2))
    }
}

/// `None` if their names have more than `most` bytes: the same bytes may be the name of many, and a small file would take any memory.
fn read_symbols(elf: &ElfFile32<'_, Endianness>, mut most: usize) -> Option<Vec<Symbol>> {
    let mut symbols = Vec::new();
    for symbol in elf.symbols() {
        let is_function = symbol.kind() == SymbolKind::Text;
        let name = symbol.name().unwrap_or_default();
        let is_kind = is_function || matches!(symbol.kind(), SymbolKind::Data | SymbolKind::Unknown);
        if !is_kind || name.is_empty() || name.starts_with('$') {
            continue;
        }
        most = most.checked_sub(name.len())?;
        symbols.push(Symbol {
            name: name.into(),
            address: symbol.address() as u32 & if is_function { !1 } else { !0 },
            size: symbol.size() as u32,
            is_function,
        });
    }
    symbols.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    Some(symbols)
}

#[cfg(test)]
mod tests {
    use hopwise_testing::elf;

    use super::*;
    use crate::time::MICROSECOND;
    use crate::world::{Board, BoardOptions, World};

    #[test]
    fn a_program_in_ram_starts_there_with_its_vectors() {
        // Stack pointer, entry; ldr r0, [pc, #4]; ldr r1, [r0]; b to itself; nop; the address of VTOR.
        let program = [
            0x1000, 0x2000, 0x0009, 0x2000, 0x4801, 0x6801, 0xe7fe, 0xbf00, 0xed08, 0xe000,
        ];
        let program: Vec<u8> = program.into_iter().flat_map(u16::to_le_bytes).collect();
        let image = Image::from_elf(&elf(0x2000_0000, &program)).expect("a program");
        assert_eq!((image.ram().len(), image.bytes().len()), (1, 0));
        let mut world = World::new(1);
        world.add(Board::new(&std::sync::Arc::new(image), BoardOptions::default()));
        world.run_until(10 * MICROSECOND);
        let board = &world.boards()[0];
        assert_eq!((board.cpu.r[13], board.cpu.r[1]), (0x2000_1000, 0x2000_0000));
        assert!(board.faults().is_empty());
        let nowhere = Image::from_elf(&elf(0x9000_0000, &program));
        assert!(nowhere.is_err_and(|why| why.to_string().ends_with("nor into the RAM")));
    }
}
