//! XLA's compile options as the bytes of a protocol buffer, which is the form that PJRT takes them in.
//!
//! The messages are few and their fields stable, so they are written by hand; what each byte means stands at the field.

use crate::options::FlagValue;

/// A message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut v: u64) {
        while v >= 0x80 {
            self.0.push((v as u8 & 0x7f) | 0x80);
            v >>= 7;
        }
        self.0.push(v as u8);
    }
    /// Wire type 0: a number, negative ones as 64 bits of two's complement.
    fn int(mut self, field: u32, v: i64) -> Message {
        self.varint(u64::from(field) << 3);
        self.varint(v as u64);
        self
    }
    /// Wire type 1: eight bytes, little-endian.
    fn double(mut self, field: u32, v: f64) -> Message {
        self.varint((u64::from(field) << 3) | 1);
        self.0.extend(v.to_le_bytes());
        self
    }
    /// Wire type 2: a length, then the bytes of a string or of a message.
    fn bytes(mut self, field: u32, v: &[u8]) -> Message {
        self.varint((u64::from(field) << 3) | 2);
        self.varint(v.len() as u64);
        self.0.extend(v);
        self
    }
    fn message(self, field: u32, m: Message) -> Message {
        self.bytes(field, &m.0)
    }
}

/// `CompileOptionsProto` for one replica and one partition on a device, with flags by name.
///
/// ```text
/// CompileOptionsProto
///   3  executable_build_options: ExecutableBuildOptionsProto
///        1  device_ordinal        the number of the device, left out where it is 0
///        4  num_replicas = 1
///        5  num_partitions = 1
///        9  device_assignment: DeviceAssignmentProto, left out where the device is 0
///             1  replica_count = 1
///             2  computation_count = 1
///             3  computation_devices: { 1  replica_device_ids = [device] }
///   7  env_option_overrides: one map entry a flag
///        1  key                   the flag's name
///        2  value: OptionOverrideProto, one of
///             1  string_field   2  bool_field   3  int_field   4  double_field
/// ```
pub(crate) fn compile_options(device: i64, flags: &[(String, FlagValue)]) -> Vec<u8> {
    let mut build = Message::default();
    if device != 0 {
        build = build.int(1, device);
    }
    build = build.int(4, 1).int(5, 1);
    if device != 0 {
        let mut packed = Message::default();
        packed.varint(device as u64);
        let devices = Message::default().message(1, packed);
        build = build.message(9, Message::default().int(1, 1).int(2, 1).message(3, devices));
    }
    flags
        .iter()
        .fold(Message::default().message(3, build), |options, (name, value)| {
            let value = match value {
                FlagValue::Text(s) => Message::default().bytes(1, s.as_bytes()),
                FlagValue::Bool(b) => Message::default().int(2, i64::from(*b)),
                FlagValue::Int(i) => Message::default().int(3, *i),
                FlagValue::Float(x) => Message::default().double(4, *x),
            };
            options.message(7, Message::default().bytes(1, name.as_bytes()).message(2, value))
        })
        .0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_encoded_field_by_field() {
        // Source: the wire format of protocol buffers, by hand: tag = field << 3 | type, varints of seven bits a byte.
        assert_eq!(compile_options(0, &[]), [0x1a, 4, 0x20, 1, 0x28, 1]);
        let flags = [("ab".to_string(), FlagValue::Int(300)), ("c".to_string(), FlagValue::Bool(true))];
        let map = [0x3a, 9, 0x0a, 2, b'a', b'b', 0x12, 3, 0x18, 0xac, 2, 0x3a, 7, 0x0a, 1, b'c', 0x12, 2, 0x10, 1];
        assert_eq!(compile_options(0, &flags), [&[0x1a, 4, 0x20, 1, 0x28, 1][..], &map].concat());
        let assignment = [0x4a, 9, 8, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, 2];
        let device = [&[0x1a, 17, 8, 2, 0x20, 1, 0x28, 1][..], &assignment].concat();
        assert_eq!(compile_options(2, &[]), device);
        let text = compile_options(0, &[("t".into(), FlagValue::Text("x".into()))]);
        assert_eq!(text.get(6..), Some(&[0x3a, 8, 0x0a, 1, b't', 0x12, 3, 0x0a, 1, b'x'][..]));
        let minus = compile_options(0, &[("m".into(), FlagValue::Int(-1))]);
        assert_eq!(minus.get(11..), Some(&[0x12, 11, 0x18, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1][..]));
        let float = compile_options(0, &[("f".into(), FlagValue::Float(1.0))]);
        assert_eq!(float.get(11..), Some(&[0x12, 9, 0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f][..]));
    }
}
