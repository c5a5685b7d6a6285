// The same as steps.c, by Rust.
use std::{env, fs::OpenOptions, io::Write, thread::sleep, time::Duration};

fn main() -> std::io::Result<()> {
    let words: Vec<String> = env::args().collect();
    let number = |at: usize| words[at].parse::<u64>().expect("a number");
    let (steps, mebibytes, milliseconds) = (number(2), number(3), number(4));
    let buffer = vec![b'x'; 1 << 20];
    for step in 0..steps {
        let mut file = OpenOptions::new().create(true).append(true).open(&words[1])?;
        for _ in 0..mebibytes {
            file.write_all(&buffer)?;
        }
        drop(file);
        if step + 1 < steps {
            sleep(Duration::from_millis(milliseconds));
        }
    }
    Ok(())
}
