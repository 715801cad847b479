//! Signatures of update files.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use hopwise_files::{read_text, write_whole};
use hopwise_node::signature::{OwnerKey, SEED_BYTES, owner_key};
use hopwise_rig::update::Package;

use super::error::CliError;
use super::output::print;

/// Maximum size of the file of a private key.
const MAX_OWNER_BYTES: u64 = 64 << 10;

#[derive(Args)]
#[command(after_help = "\
Boards with an owner take an image only with the owner's signature, and none whose version is below the floor of the image that they
have kept. A board that nobody owns takes signed images too.")]
pub(super) struct SignArgs {
    /// The update file, which is replaced by the signed one
    #[arg(value_name = "UPDATE-FILE")]
    file: PathBuf,
    /// The private key of the owner of the boards, of `hopwise mesh key --owner`
    #[arg(long, value_name = "FILE")]
    owner: PathBuf,
    #[command(flatten)]
    numbers: Numbers,
}

/// What is signed besides the image.
#[derive(Args, Default)]
pub(super) struct Numbers {
    /// The version of the image [default: the seconds since 1970, so that what is signed later is newer]
    #[arg(long, value_name = "N", requires = "owner")]
    version: Option<u32>,
    /// The lowest version that boards take once they have kept this image; it never falls [default: as before]
    #[arg(long, value_name = "N", requires = "owner")]
    floor: Option<u32>,
}

pub(super) fn run(args: &SignArgs) -> Result<(), CliError> {
    let mut package = Package::load(&args.file).map_err(|error| CliError::file(&args.file, error))?;
    let (owner, version) = sign(&mut package, &args.owner, &args.numbers)?;
    write_whole(&args.file, package.write()).map_err(|error| CliError::output_file(&args.file, &error))?;
    print(|out| writeln!(out, "version {version}, signed by owner {owner}"))
}

/// Signs with the key of a file; returns whose that is, and the version.
pub(super) fn sign(package: &mut Package, owner: &Path, numbers: &Numbers) -> Result<(OwnerKey, u32), CliError> {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let version = numbers.version.unwrap_or(since_1970.as_secs() as u32);
    let floor = numbers.floor.unwrap_or(0);
    if floor > version {
        return Err(CliError::new(format_args!(
            "a floor of {floor} would keep this image out, whose version is {version}"
        )));
    }
    let seed = read_seed(owner)?;
    package.sign(&seed, version, floor);
    Ok((owner_key(&seed), version))
}

fn read_seed(path: &Path) -> Result<[u8; SEED_BYTES], CliError> {
    let text = read_text(path, MAX_OWNER_BYTES).map_err(|error| CliError::file(path, error))?;
    let mut lines = text.lines().map(str::trim);
    let line = lines
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .unwrap_or_default();
    let pairs = line.as_bytes().chunks(2).map(str::from_utf8);
    let bytes = pairs.map(|pair| u8::from_str_radix(pair.ok()?, 16).ok());
    let bytes: Option<Vec<u8>> = bytes.collect();
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| {
        let what = "the private key of an owner is 64 hexadecimal digits; `hopwise mesh key --owner FILE` makes one";
        CliError::file(path, what)
    })
}
