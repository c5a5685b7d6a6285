//! Section 3: the loan, and the functions that the preloaded stub binds.

use crate::Bytes;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::sync::Arc;
use loom::thread;
use Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The orders of a window that two ranks fill.
#[derive(Clone, Copy)]
struct LoanOrders {
    opened: Ordering, // WindowControl::tag
    found: Ordering,
    part: Ordering, // parts.fetch_add
    commit: Ordering,
}

const LOAN_ORDERS: LoanOrders = LoanOrders {
    opened: Release,
    found: Acquire,
    part: AcqRel,
    commit: Release,
};

/// An aggregator opens a window in its log; it and another rank copy into it; the last one of them
/// commits it; the daemon drains it.
fn ranks_fill_a_window(orders: LoanOrders) {
    loom::model(move || {
        let window = Arc::new(Window {
            tag: AtomicU32::new(0),
            place: AtomicU32::new(0),
            parts: AtomicU32::new(0),
            entry: AtomicU32::new(0),
            bytes: [Bytes::new(0), Bytes::new(0)],
        });
        let rank = {
            let window = window.clone();
            thread::spawn(move || {
                if window.tag.load(orders.found) == 1 {
                    assert_eq!(window.place.load(Relaxed), 9, "where the window lies");
                    window.bytes[1].write(7);
                    window.done(orders);
                }
            })
        };
        let daemon = {
            let window = window.clone();
            thread::spawn(move || {
                if window.entry.load(Acquire) == 1 {
                    assert_eq!(window.bytes[0].read(), 7, "the aggregator's bytes");
                    assert_eq!(window.bytes[1].read(), 7, "the other rank's bytes");
                }
            })
        };
        window.place.store(9, Relaxed);
        window.tag.store(1, orders.opened);
        window.bytes[0].write(7);
        window.done(orders);
        rank.join().unwrap();
        daemon.join().unwrap();
    });
}

struct Window {
    tag: AtomicU32,
    place: AtomicU32,
    parts: AtomicU32,
    entry: AtomicU32,
    bytes: [Bytes; 2],
}

impl Window {
    /// A rank has copied its part; the last one commits the window.
    fn done(&self, orders: LoanOrders) {
        if self.parts.fetch_add(1, orders.part) == 1 {
            self.entry.store(1, orders.commit);
        }
    }
}

#[test]
fn the_daemon_has_what_all_ranks_have_copied() {
    ranks_fill_a_window(LOAN_ORDERS);
}
#[test]
#[should_panic]
fn a_rank_does_not_know_where_the_window_lies_if_it_is_opened_relaxed() {
    ranks_fill_a_window(LoanOrders {
        opened: Relaxed,
        ..LOAN_ORDERS
    });
}
#[test]
#[should_panic]
fn a_rank_does_not_know_where_the_window_lies_if_it_is_found_relaxed() {
    ranks_fill_a_window(LoanOrders {
        found: Relaxed,
        ..LOAN_ORDERS
    });
}
#[test]
#[should_panic]
fn bytes_are_missing_if_a_rank_is_done_without_release() {
    ranks_fill_a_window(LoanOrders {
        part: Acquire,
        ..LOAN_ORDERS
    });
}
#[test]
#[should_panic]
fn bytes_are_missing_if_the_last_rank_does_not_acquire() {
    ranks_fill_a_window(LoanOrders {
        part: Release,
        ..LOAN_ORDERS
    });
}
#[test]
#[should_panic]
fn bytes_are_missing_if_the_commit_is_relaxed() {
    ranks_fill_a_window(LoanOrders {
        commit: Relaxed,
        ..LOAN_ORDERS
    });
}

/// A loan is given back: its memory goes to another client once no rank holds it.
fn a_loan_is_given_back(part: Ordering, given_back: Ordering) {
    loom::model(move || {
        let parts = Arc::new(AtomicU32::new(0));
        let entry = Arc::new(AtomicU32::new(0));
        let credit = Arc::new(AtomicU32::new(0));
        let bytes = Arc::new(Bytes::new(0));
        let rank = {
            let (parts, bytes) = (parts.clone(), bytes.clone());
            thread::spawn(move || {
                bytes.write(1);
                parts.fetch_add(1, part);
            })
        };
        let daemon = {
            let (entry, credit) = (entry.clone(), credit.clone());
            thread::spawn(move || {
                if entry.load(Acquire) == 1 {
                    credit.store(1, Release);
                }
            })
        };
        let next = {
            let credit = credit.clone();
            thread::spawn(move || {
                if credit.load(Acquire) == 1 {
                    bytes.write(2);
                }
            })
        };
        if parts.load(Acquire) == 1 {
            entry.store(1, given_back);
        }
        rank.join().unwrap();
        daemon.join().unwrap();
        next.join().unwrap();
    });
}

#[test]
fn memory_of_a_loan_has_one_writer() {
    a_loan_is_given_back(AcqRel, Release);
}
#[test]
#[should_panic]
fn memory_of_a_loan_has_two_writers_if_a_rank_is_done_relaxed() {
    a_loan_is_given_back(Relaxed, Release);
}

/// The stub binds a core's functions; a program calls one meanwhile.
fn a_program_calls_a_function_that_is_being_bound(bound: Ordering, called: Ordering) {
    loom::model(move || {
        let prepared = Arc::new(AtomicU32::new(0));
        let slot = Arc::new(AtomicU32::new(0));
        let stub = {
            let (prepared, slot) = (prepared.clone(), slot.clone());
            thread::spawn(move || {
                prepared.store(1, Relaxed);
                slot.store(1, bound);
            })
        };
        if slot.load(called) == 1 {
            assert_eq!(prepared.load(Relaxed), 1, "the core is not prepared");
        }
        stub.join().unwrap();
    });
}

#[test]
fn a_function_that_is_found_is_prepared() {
    a_program_calls_a_function_that_is_being_bound(Release, Acquire);
}
#[test]
#[should_panic]
fn a_function_is_not_prepared_if_it_is_bound_relaxed() {
    a_program_calls_a_function_that_is_being_bound(Relaxed, Acquire);
}
#[test]
#[should_panic]
fn a_function_is_not_prepared_if_its_slot_is_read_relaxed() {
    a_program_calls_a_function_that_is_being_bound(Release, Relaxed);
}
