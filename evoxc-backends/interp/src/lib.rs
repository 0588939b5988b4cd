//! The reference interpreter of evoxc.

mod kernels;
