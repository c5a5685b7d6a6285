// A static program: no library is loaded into it.
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Result, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

fn tell(name: &str) -> Result<()> {
    let mut all = Vec::new();
    File::open(name)?.read_to_end(&mut all)?;
    let sum = all.iter().fold(0xcbf29ce484222325u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100000001b3)
    });
    println!("{name}: {} bytes of {}, {sum:x}", all.len(), fs::metadata(name)?.len());
    Ok(())
}

fn main() -> Result<()> {
    tell("shared")?;
    OpenOptions::new().append(true).open("shared")?.write_all(b"appended by the program")?;
    let mut file = OpenOptions::new().read(true).write(true).create(true).open("own")?;
    for i in 0..3u8 {
        file.write_all(&vec![b'a' + i; 1 << 20])?;
    }
    file.write_all_at(b"between", (1 << 20) - 3)?;
    file.seek(SeekFrom::End(-10))?;
    file.write_all(b"longer than ten bytes")?;
    file.set_len((2 << 20) + 5)?;
    file.sync_all()?;
    tell("own")?;
    println!("{} bytes were copied", fs::copy("own", "copy")?);
    fs::rename("copy", "renamed")?;
    tell("renamed")
}
