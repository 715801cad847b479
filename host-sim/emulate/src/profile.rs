//! Where the instructions go: executions attributed to functions and rooms by the debug information of the image.
//!
//! An instruction belongs to the innermost function that the compiler has inlined there. A room is a module of Hopwise, or a crate of somebody
//! else's. What is inlined from Rust's own library belongs to the room that uses it.

use std::collections::BTreeMap;

use addr2line::gimli::{self, EndianSlice, LittleEndian};
use addr2line::{Context, Frame};
use hopwise_emulator::image::{FLASH, Image};
use hopwise_emulator::world::Board;
use object::{Object, ObjectSection};
use serde::Serialize;

use super::demangle;

/// The room of what has no debug information, such as assembly.
const UNKNOWN: &str = "(no debug information)";
/// The room of instructions that the compiler has taken out of several functions, where they were the same.
const OUTLINED: &str = "(outlined)";
/// Rooms of Rust's own library.
const RUST: &str = "rust::";

type Reader<'e> = EndianSlice<'e, LittleEndian>;

/// The debug information of an image.
pub struct DebugInfo<'e> {
    context: Context<Reader<'e>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its debug information cannot be read: {0}")]
pub struct BadDebugInfo(String);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    function: String,
    room: String,
}

impl<'e> DebugInfo<'e> {
    /// Reads that of an ELF file. One without any is no error: symbols have to do then.
    pub fn of_elf(elf: &'e [u8]) -> Result<Self, BadDebugInfo> {
        let file = object::File::parse(elf).map_err(|error| BadDebugInfo(error.to_string()))?;
        let section = |id: gimli::SectionId| {
            let section = file.section_by_name(id.name());
            let bytes = section.map_or(Ok(&[][..]), |section| section.data());
            bytes.map(|bytes| Reader::new(bytes, LittleEndian))
        };
        let dwarf = gimli::Dwarf::load(section).map_err(|error| BadDebugInfo(error.to_string()))?;
        let context = Context::from_dwarf(dwarf).map_err(|error| BadDebugInfo(error.to_string()))?;
        Ok(DebugInfo { context })
    }

    /// The functions that an address is in, the innermost first; never none.
    fn places(&self, image: &Image, address: u32) -> Vec<Place> {
        let mut places = Vec::new();
        if let Ok(mut frames) = self.context.find_frames(u64::from(address)).skip_all_loads() {
            while let Ok(Some(frame)) = frames.next() {
                places.extend(place(&frame));
            }
        }
        if places.is_empty() {
            let function = image.function_at(address).map(|symbol| demangle(&symbol.name));
            let room = function.as_deref().and_then(room_of_path);
            places.push(Place {
                function: function.unwrap_or_else(|| "(no function)".into()),
                room: room.unwrap_or_else(|| UNKNOWN.into()),
            });
        }
        // From the outside in: what is of the library is in the room that it is inlined into.
        for inner in (0..places.len() - 1).rev() {
            if places[inner].room.starts_with(RUST) {
                places[inner].room = places[inner + 1].room.clone();
            }
        }
        places
    }
}

fn place(frame: &Frame<'_, Reader<'_>>) -> Option<Place> {
    let name = frame.function.as_ref()?.raw_name().ok()?;
    let function = demangle(&name);
    let of_file = || match function.starts_with("OUTLINED_FUNCTION_") {
        true => Some(OUTLINED.into()),
        false => room_of_file(frame.location.as_ref()?.file?),
    };
    let room = room_of_path(&function).or_else(of_file);
    Some(Place {
        room: room.unwrap_or_else(|| UNKNOWN.into()),
        function,
    })
}

fn room_of_path(function: &str) -> Option<String> {
    let path = function.trim_start_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':');
    let (path, rest) = path.split_at(end.unwrap_or(path.len()));
    if !path.contains("::") {
        // A type without one, such as a slice: its trait has one.
        let (_, of_trait) = rest.split_once(" as ")?;
        return room_of_path(of_trait);
    }
    let is_module = |name: &&str| name.starts_with(|letter: char| letter.is_lowercase() || letter == '_');
    let mut modules: Vec<&str> = path.split("::").take_while(is_module).collect();
    let of_impl = path.ends_with("::") && rest.starts_with('<');
    if !of_impl && path.trim_end_matches("::").ends_with(&modules.join("::")) {
        // The function itself.
        modules.pop();
    }
    let (name, within) = modules.split_first()?;
    Some(match name.strip_prefix("hopwise_") {
        Some(ours) => [&[ours], within].concat().join("::"),
        None => room_of_crate(name),
    })
}

/// The room of a crate of others.
fn room_of_crate(name: &str) -> String {
    match name {
        "core" | "alloc" | "std" => format!("{RUST}{name}"),
        _ => name.replace('_', "-"),
    }
}

/// The room of a function without a path, by its file: the folder of its crate, without a version.
fn room_of_file(file: &str) -> Option<String> {
    let (folder, _) = file.rsplit_once("/src/")?;
    let name = folder.rsplit('/').next()?;
    let is_version = |at: &usize| name[at + 1..].starts_with(|letter: char| letter.is_ascii_digit());
    let version = name.rfind('-').filter(is_version);
    let name = &name[..version.unwrap_or(name.len())];
    Some(match file.starts_with("/rustc/") {
        true => room_of_crate(name),
        false => name.to_string(),
    })
}

/// How often boards have executed each instruction of their image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// As in the processor's profile: the last place is for all that is outside the image.
    counts: Vec<i64>,
}

impl Executed {
    /// By boards with the same image, since their profiles began.
    pub fn by<'b>(boards: impl Iterator<Item = &'b Board>) -> Self {
        let mut sum = Executed::default();
        for board in boards {
            sum.change(board.cpu.profile.iter().map(|count| *count as i64));
        }
        sum
    }

    /// Without what was executed another time.
    pub fn without(mut self, other: &Executed) -> Self {
        self.change(other.counts.iter().map(|count| -count));
        self
    }

    fn change(&mut self, by: impl ExactSizeIterator<Item = i64>) {
        self.counts.resize(self.counts.len().max(by.len()), 0);
        self.counts.iter_mut().zip(by).for_each(|(count, by)| *count += by);
    }
}

/// Instructions of a function in a room. Those of idle time may have been subtracted, and be more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionCount {
    pub function: String,
    pub room: String,
    /// Instructions of it alone.
    pub instructions: i64,
    /// And with those of the functions inlined into it.
    pub with_inlined: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoomCount {
    pub room: String,
    pub instructions: i64,
}

/// Where instructions went, most first. The names are those of the JSON keys of `hopwise emulate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// All together.
    pub instructions: i64,
    pub rooms: Vec<RoomCount>,
    pub functions: Vec<FunctionCount>,
}

impl Profile {
    /// Of what boards of several kinds have executed, each with its image and what is known about that.
    pub fn new<'a, 'e: 'a>(parts: impl Iterator<Item = (&'a Executed, &'a Image, &'a DebugInfo<'e>)>) -> Self {
        let mut instructions = 0;
        let mut rooms: BTreeMap<String, i64> = BTreeMap::new();
        let mut functions: BTreeMap<Place, [i64; 2]> = BTreeMap::new();
        for (executed, image, debug) in parts {
            for (at, &count) in executed.counts.iter().enumerate().filter(|(_, count)| **count != 0) {
                let mut places = debug.places(image, FLASH + at as u32 * 2);
                instructions += count;
                *rooms.entry(places[0].room.clone()).or_default() += count;
                functions.entry(places[0].clone()).or_default()[0] += count;
                // A function that is inlined into itself is counted once.
                places.sort();
                places.dedup();
                for place in places {
                    functions.entry(place).or_default()[1] += count;
                }
            }
        }
        let rooms = rooms.into_iter();
        let mut rooms: Vec<RoomCount> = rooms
            .map(|(room, instructions)| RoomCount { room, instructions })
            .collect();
        rooms.sort_by_key(|room| -room.instructions);
        let functions = functions.into_iter();
        let count = |(place, [instructions, with_inlined]): (Place, [i64; 2])| FunctionCount {
            function: place.function,
            room: place.room,
            instructions,
            with_inlined,
        };
        let mut functions: Vec<FunctionCount> = functions.map(count).collect();
        functions.sort_by_key(|function| (-function.instructions, -function.with_inlined));
        Profile {
            instructions,
            rooms,
            functions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_a_module_of_ours_or_a_crate_of_others() {
        let rooms = [
            ("hopwise_node::link::Link<_>::receive", "node::link"),
            (
                "hopwise_node::router::forwarding::<impl hopwise_node::router::Router<C>>::forward",
                "node::router::forwarding",
            ),
            (
                "<hopwise_node::wire::header::Header as core::fmt::Debug>::fmt",
                "node::wire::header",
            ),
            ("hopwise_node::wire::checksum", "node::wire"),
            ("hopwise_runner::driver::run::{{closure}}", "runner::driver"),
            ("hopwise_firmware::__cortex_m_rt_main", "firmware"),
            ("embassy_executor::raw::TaskStorage<F>::poll", "embassy-executor"),
            ("core::ptr::drop_in_place<hopwise_node::link::Link>", "rust::core"),
            ("core::slice::<impl [T]>::copy_from_slice", "rust::core"),
            ("<T as core::convert::Into<U>>::into", "rust::core"),
            ("hopwise_core::network::Network::next_hop", "core::network"),
            ("<&mut [u8] as hopwise_app::stream::Read>::read", "app::stream"),
        ];
        for (function, room) in rooms {
            assert_eq!(room_of_path(function).as_deref(), Some(room), "{function}");
        }
        assert_eq!(room_of_path("USART1"), None);
        for (file, room) in [
            ("/a/embassy-stm32-0.6.0/src/lib.rs", Some("embassy-stm32")),
            ("/rustc/59/library/core/src/num.rs", Some("rust::core")),
            ("/a/firmware/src/board/x.rs", Some("firmware")),
            ("lib.rs", None),
        ] {
            assert_eq!(room_of_file(file).as_deref(), room, "{file}");
        }
    }
}
