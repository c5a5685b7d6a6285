//! Models of the protocols by which programs and the daemon share memory without a lock: the commit
//! of an entry, the read overlay, the loan. Letters in comments are those of the tables in
//! docs/internals/memory-order.md.
//!
//! Each model takes the orders of its operations. With those of the C++ code it holds in all
//! executions that loom finds (all interleavings, and for each load all stores that it may read).
//! With any single one weakened it does not: so each order is needed, and each test can fail.
//!
//! loom treats `seq_cst` operations as acquire and release, and knows `seq_cst` fences. Where the C++
//! code has Dekker's algorithm by `seq_cst` operations (a store, then a load of another word, in
//! both threads), the models have a `seq_cst` fence between the two, which promises no more.

#[cfg(test)]
mod commit;
#[cfg(test)]
mod loan;
#[cfg(test)]
mod overlay;

/// Bytes that C++ reads and writes as plain memory. A read of other bytes than the model allows, and
/// a race, fail the test.
#[cfg(test)]
pub(crate) struct Bytes(loom::cell::UnsafeCell<u32>);

#[cfg(test)]
// SAFETY: loom reports each access that another one may race with.
unsafe impl Sync for Bytes {}

#[cfg(test)]
impl Bytes {
    pub(crate) fn new(value: u32) -> Self {
        Bytes(loom::cell::UnsafeCell::new(value))
    }
    pub(crate) fn read(&self) -> u32 {
        // SAFETY: loom reports races.
        self.0.with(|bytes| unsafe { *bytes })
    }
    pub(crate) fn write(&self, value: u32) {
        // SAFETY: loom reports races.
        self.0.with_mut(|bytes| unsafe { *bytes = value });
    }
}

/// A `seq_cst` fence, or none in a model that is meant to fail.
#[cfg(test)]
pub(crate) fn sequential(there: bool) {
    if there {
        loom::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
}
