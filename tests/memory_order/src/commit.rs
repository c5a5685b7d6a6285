//! Section 1: the commit of an entry.

use crate::{sequential, Bytes};
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::sync::Arc;
use loom::thread;
use Ordering::{AcqRel, Acquire, Relaxed, Release};

const NONE: u32 = 0;
const RESERVED: u32 = 1;
const COMMITTED: u32 = 2;
const REVOKED: u32 = 3;
const ABANDONED: u32 = 4;

const POOLED: u32 = 0;
const LEAVING: u32 = 1;

/// The orders of a deposit while its file leaves the pool.
#[derive(Clone, Copy)]
struct LeavingOrders {
    client_is_sequential: bool, // a and c against d
    daemon_is_sequential: bool, // p against q and r
    commit: Ordering,           // g
}

const LEAVING_ORDERS: LeavingOrders = LeavingOrders {
    client_is_sequential: true,
    daemon_is_sequential: true,
    commit: Release,
};

/// A client deposits once while the daemon sends the file away. What was acknowledged (g won) has
/// been taken by the daemon with its fields and bytes once the daemon says that the file has left.
fn a_deposit_while_its_file_leaves(orders: LeavingOrders) {
    loom::model(move || {
        let entries = Arc::new(AtomicU32::new(0));
        let file = Arc::new(AtomicU32::new(POOLED));
        let entry = Arc::new(AtomicU32::new(NONE));
        let field = Arc::new(AtomicU32::new(0));
        let bytes = Arc::new(Bytes::new(0));
        let client = {
            let (entries, file, entry) = (entries.clone(), file.clone(), entry.clone());
            let (field, bytes) = (field.clone(), bytes.clone());
            thread::spawn(move || {
                entries.fetch_add(1, AcqRel); // a
                field.store(7, Relaxed); // b
                if entry
                    .compare_exchange(NONE, RESERVED, AcqRel, Acquire) // c
                    .is_err()
                {
                    return false;
                }
                sequential(orders.client_is_sequential);
                if file.load(Acquire) == LEAVING {
                    // d
                    entry.store(ABANDONED, Release);
                    return false;
                }
                bytes.write(7); // f
                entry
                    .compare_exchange(RESERVED, COMMITTED, orders.commit, Relaxed) // g
                    .is_ok()
            })
        };
        file.store(LEAVING, Release); // p
        sequential(orders.daemon_is_sequential);
        let mut taken = false;
        if entries.load(Acquire) == 1 {
            // q
            let mut state = entry.load(Acquire); // r
            if state == RESERVED {
                // t: given up, since its writer may be suspended
                state = match entry.compare_exchange(RESERVED, REVOKED, AcqRel, Acquire) {
                    Ok(_) => REVOKED,
                    Err(now) => now,
                };
            }
            if state == REVOKED || state == COMMITTED {
                assert_eq!(field.load(Relaxed), 7, "a field of an entry that was seen"); // s
            }
            if state == COMMITTED {
                assert_eq!(bytes.read(), 7, "bytes of a committed entry");
                taken = true;
            }
        }
        let acknowledged = client.join().unwrap();
        assert!(!acknowledged || taken, "an acknowledged deposit is lost");
    });
}

#[test]
fn a_deposit_is_refused_or_taken_when_its_file_leaves() {
    a_deposit_while_its_file_leaves(LEAVING_ORDERS);
}
#[test]
#[should_panic]
fn a_deposit_is_lost_if_d_may_come_before_c() {
    a_deposit_while_its_file_leaves(LeavingOrders {
        client_is_sequential: false,
        ..LEAVING_ORDERS
    });
}
#[test]
#[should_panic]
fn a_deposit_is_lost_if_r_may_come_before_p() {
    a_deposit_while_its_file_leaves(LeavingOrders {
        daemon_is_sequential: false,
        ..LEAVING_ORDERS
    });
}
#[test]
#[should_panic]
fn bytes_are_not_there_if_the_commit_is_relaxed() {
    a_deposit_while_its_file_leaves(LeavingOrders {
        commit: Relaxed,
        ..LEAVING_ORDERS
    });
}

/// The daemon has read an entry's bytes, and leases their memory to the next deposit.
fn memory_is_leased_again(credit_given: Ordering, credit_taken: Ordering) {
    loom::model(move || {
        let entry = Arc::new(AtomicU32::new(COMMITTED));
        let credit = Arc::new(AtomicU32::new(0));
        let bytes = Arc::new(Bytes::new(1));
        let client = {
            let (credit, bytes) = (credit.clone(), bytes.clone());
            thread::spawn(move || {
                if credit.load(credit_taken) == 1 {
                    // e
                    bytes.write(2); // f
                }
            })
        };
        assert_eq!(entry.load(Acquire), COMMITTED); // r
        assert_eq!(bytes.read(), 1, "other bytes are drained");
        credit.store(1, credit_given); // u
        client.join().unwrap();
    });
}

#[test]
fn bytes_that_are_drained_are_not_overwritten() {
    memory_is_leased_again(Release, Acquire);
}
#[test]
#[should_panic]
fn bytes_are_overwritten_if_credit_is_given_relaxed() {
    memory_is_leased_again(Relaxed, Acquire);
}
#[test]
#[should_panic]
fn bytes_are_overwritten_if_credit_is_taken_relaxed() {
    memory_is_leased_again(Release, Relaxed);
}

/// A client gives up an entry after it has written to its memory; the daemon leases the memory to
/// another client.
fn an_entry_is_abandoned(abandoned: Ordering) {
    loom::model(move || {
        let entry = Arc::new(AtomicU32::new(RESERVED));
        let credit = Arc::new(AtomicU32::new(0));
        let bytes = Arc::new(Bytes::new(0));
        let client = {
            let (entry, bytes) = (entry.clone(), bytes.clone());
            thread::spawn(move || {
                bytes.write(1); // f
                entry.store(ABANDONED, abandoned);
            })
        };
        let next = {
            let (credit, bytes) = (credit.clone(), bytes.clone());
            thread::spawn(move || {
                if credit.load(Acquire) == 1 {
                    // e
                    bytes.write(2); // f
                }
            })
        };
        if entry.load(Acquire) == ABANDONED {
            // r
            credit.store(1, Release); // u
        }
        client.join().unwrap();
        next.join().unwrap();
    });
}

#[test]
fn abandoned_memory_has_one_writer() {
    an_entry_is_abandoned(Release);
}
#[test]
#[should_panic]
fn abandoned_memory_has_two_writers_if_it_is_given_up_relaxed() {
    an_entry_is_abandoned(Relaxed);
}

/// The daemon ends, and a client commits meanwhile.
fn the_daemon_ends(client_is_sequential: bool, daemon_is_sequential: bool) {
    loom::model(move || {
        let entry = Arc::new(AtomicU32::new(RESERVED));
        let commits = Arc::new(AtomicU32::new(0));
        let admission = Arc::new(AtomicU32::new(1));
        let client = {
            let (entry, commits, admission) = (entry.clone(), commits.clone(), admission.clone());
            thread::spawn(move || {
                entry.store(COMMITTED, Release); // g
                commits.fetch_add(1, AcqRel); // h
                sequential(client_is_sequential);
                admission.load(Acquire) == 1 // i: acknowledged
            })
        };
        admission.store(0, Release);
        sequential(daemon_is_sequential);
        let counted = commits.load(Acquire) == 1;
        if counted {
            assert_eq!(entry.load(Relaxed), COMMITTED, "a commit that is counted is seen");
        }
        let acknowledged = client.join().unwrap();
        assert!(!acknowledged || counted, "an acknowledged commit is not counted");
    });
}

#[test]
fn a_commit_is_counted_or_refused_when_the_daemon_ends() {
    the_daemon_ends(true, true);
}
#[test]
#[should_panic]
fn a_commit_is_lost_if_i_may_come_before_h() {
    the_daemon_ends(false, true);
}
#[test]
#[should_panic]
fn a_commit_is_lost_if_the_last_look_may_come_before_admission_ends() {
    the_daemon_ends(true, false);
}

/// Somebody sleeps on a futex word (`progress`, `synced`) until a condition is met.
fn somebody_sleeps_on_a_word(woken: Ordering, asleep: Ordering) {
    loom::model(move || {
        let word = Arc::new(AtomicU32::new(0));
        let condition = Arc::new(AtomicU32::new(0));
        let waker = {
            let (word, condition) = (word.clone(), condition.clone());
            thread::spawn(move || {
                condition.store(1, Relaxed);
                word.store(1, woken);
            })
        };
        let seen = word.load(asleep);
        let met = condition.load(Relaxed) == 1;
        waker.join().unwrap();
        // The kernel lets it sleep only while the word is still the one that it has seen.
        let sleeps_on = !met && word.load(Relaxed) == seen;
        assert!(!sleeps_on, "nobody wakes it any more");
    });
}

#[test]
fn a_sleeper_is_woken() {
    somebody_sleeps_on_a_word(Release, Acquire);
}
#[test]
#[should_panic]
fn a_sleeper_is_not_woken_if_the_word_is_stored_relaxed() {
    somebody_sleeps_on_a_word(Relaxed, Acquire);
}
#[test]
#[should_panic]
fn a_sleeper_is_not_woken_if_the_word_is_read_relaxed() {
    somebody_sleeps_on_a_word(Release, Relaxed);
}

/// A reader waits for a round of the daemon that begins after a commit (`catch_up_with_all`).
fn a_reader_waits_for_a_round(daemon_is_sequential: bool, reader_is_sequential: bool) {
    loom::model(move || {
        let commits = Arc::new(AtomicU32::new(0));
        let round = Arc::new(AtomicU32::new(0));
        let daemon = {
            let (commits, round) = (commits.clone(), round.clone());
            thread::spawn(move || {
                round.store(1, Release);
                sequential(daemon_is_sequential);
                commits.load(Acquire) // what round 1 takes
            })
        };
        commits.fetch_add(1, AcqRel); // h, by this program or by one that told it
        sequential(reader_is_sequential);
        let found = round.load(Acquire);
        let taken_in_round_1 = daemon.join().unwrap();
        // It waits for the round behind the one that it has found.
        assert!(found != 0 || taken_in_round_1 == 1, "round 1 passes over the commit");
    });
}

#[test]
fn the_round_that_is_waited_for_takes_the_commit() {
    a_reader_waits_for_a_round(true, true);
}
#[test]
#[should_panic]
fn the_commit_is_passed_over_if_the_round_may_be_told_late() {
    a_reader_waits_for_a_round(false, true);
}
#[test]
#[should_panic]
fn the_commit_is_passed_over_if_the_round_may_be_found_early() {
    a_reader_waits_for_a_round(true, false);
}
