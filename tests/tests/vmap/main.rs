//! vmap is a loop over rows: for every op, in every pattern of mapped operands; and what users see of it.

mod api;
mod cases;
mod loops;
mod ops;
mod programs;
mod rows;
