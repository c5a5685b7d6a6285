//! Section 2: the read overlay, and the other sequence locks.

use loom::sync::atomic::{fence, AtomicU32, Ordering};
use loom::sync::Arc;
use loom::thread;
use Ordering::{Acquire, Relaxed, Release};

/// The fences of a sequence lock.
#[derive(Clone, Copy)]
struct LockOrders {
    fence_behind_odd: bool,
    even: Ordering,
    first_look: Ordering,
    fence_before_last_look: bool,
}

const LOCK_ORDERS: LockOrders = LockOrders {
    fence_behind_odd: true,
    even: Release,
    first_look: Acquire,
    fence_before_last_look: true,
};

/// The daemon changes a file's list of extents (two words here) while a reader looks at it.
fn a_reader_looks_while_the_list_changes(orders: LockOrders) {
    loom::model(move || {
        let version = Arc::new(AtomicU32::new(0));
        let list = Arc::new((AtomicU32::new(1), AtomicU32::new(1)));
        let daemon = {
            let (version, list) = (version.clone(), list.clone());
            thread::spawn(move || {
                version.store(1, Relaxed);
                if orders.fence_behind_odd {
                    fence(Release);
                }
                list.0.store(2, Relaxed);
                list.1.store(2, Relaxed);
                version.store(2, orders.even);
            })
        };
        let first = version.load(orders.first_look);
        if first % 2 == 0 {
            let found = (list.0.load(Relaxed), list.1.load(Relaxed));
            if orders.fence_before_last_look {
                fence(Acquire);
            }
            if version.load(Relaxed) == first {
                assert_eq!(found, (1 + first / 2, 1 + first / 2), "a list of no time");
            }
        }
        daemon.join().unwrap();
    });
}

#[test]
fn a_reader_finds_a_list_of_one_time() {
    a_reader_looks_while_the_list_changes(LOCK_ORDERS);
}
#[test]
#[should_panic]
fn a_list_of_no_time_without_the_fence_behind_the_odd_version() {
    a_reader_looks_while_the_list_changes(LockOrders {
        fence_behind_odd: false,
        ..LOCK_ORDERS
    });
}
#[test]
#[should_panic]
fn a_list_of_no_time_if_the_even_version_is_relaxed() {
    a_reader_looks_while_the_list_changes(LockOrders {
        even: Relaxed,
        ..LOCK_ORDERS
    });
}
#[test]
#[should_panic]
fn a_list_of_no_time_if_the_first_look_is_relaxed() {
    a_reader_looks_while_the_list_changes(LockOrders {
        first_look: Relaxed,
        ..LOCK_ORDERS
    });
}
#[test]
#[should_panic]
fn a_list_of_no_time_without_the_fence_before_the_last_look() {
    a_reader_looks_while_the_list_changes(LockOrders {
        fence_before_last_look: false,
        ..LOCK_ORDERS
    });
}

/// A reader copies the bytes of a deposit. The daemon drains it and leases its memory to a client,
/// which writes other bytes there.
fn bytes_are_copied_while_their_memory_is_leased_again(client_has_fence: bool) {
    loom::model(move || {
        let version = Arc::new(AtomicU32::new(0));
        let credit = Arc::new(AtomicU32::new(0));
        let bytes = Arc::new(AtomicU32::new(1));
        let daemon = {
            let (version, credit) = (version.clone(), credit.clone());
            thread::spawn(move || {
                version.store(1, Relaxed);
                fence(Release);
                version.store(2, Release);
                credit.store(1, Release);
            })
        };
        let client = {
            let (credit, bytes) = (credit.clone(), bytes.clone());
            thread::spawn(move || {
                if credit.load(Acquire) == 1 {
                    if client_has_fence {
                        fence(Release);
                    }
                    bytes.store(2, Relaxed);
                }
            })
        };
        if version.load(Acquire) == 0 {
            let copied = bytes.load(Relaxed);
            fence(Acquire);
            if version.load(Relaxed) == 0 {
                assert_eq!(copied, 1, "bytes of the next deposit");
            }
        }
        daemon.join().unwrap();
        client.join().unwrap();
    });
}

#[test]
fn a_copy_is_of_one_deposit() {
    bytes_are_copied_while_their_memory_is_leased_again(true);
}
#[test]
#[should_panic]
fn a_copy_has_bytes_of_the_next_deposit_without_the_clients_fence() {
    bytes_are_copied_while_their_memory_is_leased_again(false);
}

/// A block of the read cache gets another name and other bytes while a reader copies it. Times of
/// change and slots of files are read in the same way.
fn a_block_is_renamed(fence_behind_word: bool, fence_behind_copy: bool) {
    loom::model(move || {
        let word = Arc::new(AtomicU32::new(1));
        let bytes = Arc::new(AtomicU32::new(1));
        let daemon = {
            let (word, bytes) = (word.clone(), bytes.clone());
            thread::spawn(move || {
                word.store(2, Release);
                if fence_behind_word {
                    fence(Release);
                }
                bytes.store(2, Relaxed);
                word.store(3, Release);
            })
        };
        let first = word.load(Acquire);
        let copied = bytes.load(Relaxed);
        if fence_behind_copy {
            fence(Acquire);
        }
        if first != 2 && word.load(Relaxed) == first {
            assert_eq!(copied, if first == 1 { 1 } else { 2 }, "another block's bytes");
        }
        daemon.join().unwrap();
    });
}

#[test]
fn a_copied_block_has_one_name() {
    a_block_is_renamed(true, true);
}
#[test]
#[should_panic]
fn a_copied_block_has_two_names_without_the_fence_behind_its_word() {
    a_block_is_renamed(false, true);
}
#[test]
#[should_panic]
fn a_copied_block_has_two_names_without_the_fence_behind_the_copy() {
    a_block_is_renamed(true, false);
}
