//! Files of lowered programs and artifacts: what comes back, what is refused, and that no bytes crash the reader.

mod fake;

use evoxc_core::{Device, DeviceKind, Dyn, Error, F32, PersistenceError, Tensor, TensorSpec, TreeDef, dim, spec};
use evoxc_stage::{AnyBackend, CompiledArtifact, LoweredProgram};
use fake::{Fake, Folder, fake, lowered};

type Pair = (Tensor, Vec<Tensor>);

fn program() -> LoweredProgram<Pair, Tensor, Fake> {
    let b = dim("B");
    let (specs, tree) = TreeDef::flatten((spec(F32, (b, 4)), vec![spec(F32, (2 * b + 1,)).on(Device::cpu())]));
    lowered(fake(), (specs, tree), &[1], TreeDef::leaf())
}

fn mismatch<T>(r: Result<T, Error>) -> (&'static str, String) {
    match r {
        Err(Error::Persistence(PersistenceError::Mismatch { field, remedy, .. })) => (field, remedy),
        Err(e) => panic!("another error: {e}"),
        Ok(_) => panic!("no error"),
    }
}

fn format<T>(r: Result<T, Error>) -> String {
    match r {
        Err(Error::Persistence(PersistenceError::Format { reason, .. })) => reason,
        Err(e) => panic!("another error: {e}"),
        Ok(_) => panic!("no error"),
    }
}

#[test]
fn what_is_saved_comes_back() {
    let folder = Folder::new();
    let (l, a) = (folder.file("f.evoxclowered"), folder.file("f.evoxcartifact"));
    let p = program();
    p.save(&l).unwrap();
    p.compile().unwrap().save(&a).unwrap();

    let back = LoweredProgram::open(&l, &fake()).unwrap();
    assert_eq!(*back, *p);
    assert_eq!(back.signature(), p.signature());
    assert_eq!(back.specs()[1].device, Some(Device::cpu()));
    assert_eq!(back.specs()[1].to_string(), "tensor<[2*B + 1]xf32>");

    let erased = CompiledArtifact::open(&a, &fake()).unwrap();
    let args = (Tensor::ones(F32, [3, 4]), vec![Tensor::ones(F32, [7])]);
    let out = erased.load(Device::cpu()).unwrap().run(Dyn::of(args.clone())).unwrap();
    assert_eq!(out.leaves()[0].shape(), [7]);
    let typed = erased.typed::<Pair, Tensor>().unwrap();
    assert_eq!(typed.load(Device::cpu()).unwrap().run(args).unwrap().shape(), [7]);
    // The files of an erased backend are those of the backend inside.
    assert!(CompiledArtifact::open(&a, &AnyBackend::new(fake())).is_ok());
    // Nothing but the two files is left.
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 2);
}

#[test]
fn types_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let path = folder.file("f");
    program().save(&path).unwrap();
    let erased = LoweredProgram::open(&path, &fake()).unwrap();
    let e = erased.typed::<(Tensor, Tensor), Tensor>().unwrap_err();
    assert_eq!(e.to_string(), "1: expected a tensor, got a list of 1");
    let e = erased.typed::<Pair, (Tensor,)>().unwrap_err();
    assert_eq!(e.to_string(), "expected a tuple of 1, got a tensor");
    let b = dim("B");
    let like = |s: TensorSpec| erased.typed_like::<Pair, Tensor>((spec(F32, (b, 4)), vec![s.clone()]), s);
    assert!(like(spec(F32, (2 * b + 1,))).is_ok());
    let e = like(spec(F32, (2 * b,))).unwrap_err();
    assert_eq!(e.to_string(), "1[0]: expected tensor<[2*B + 1]xf32>, got tensor<[2*B]xf32>");
}

#[test]
fn other_backends_versions_and_devices_are_refused() {
    let folder = Folder::new();
    let (l, a) = (folder.file("l"), folder.file("a"));
    program().save(&l).unwrap();
    program().compile().unwrap().save(&a).unwrap();
    let others: [(Fake, &str); 4] = [
        (Fake { name: "other", ..fake() }, "backend"),
        (Fake { version: "2", ..fake() }, "backend version"),
        (Fake { abi: "y", ..fake() }, "abi"),
        (Fake { device: DeviceKind::Vulkan, ..fake() }, "device"),
    ];
    for (other, field) in others {
        assert_eq!(mismatch(LoweredProgram::open(&l, &other)).0, field);
        let (got, remedy) = mismatch(CompiledArtifact::open(&a, &other));
        assert_eq!(got, field);
        assert!(!remedy.is_empty());
    }
    assert!(format(LoweredProgram::open(&a, &fake())).contains("it holds `evoxc-artifact`"));
    let text = std::fs::read_to_string(&a).unwrap();
    let newer = text.replacen("\"version\":1", "\"version\":2", 1).replacen("\"abi\"", "\"abi_of_the_future\"", 1);
    std::fs::write(&a, newer).unwrap();
    assert_eq!(mismatch(CompiledArtifact::open(&a, &fake())).0, "version");
    assert!(matches!(CompiledArtifact::open(folder.file("none"), &fake()), Err(Error::Io { .. })));
    assert!(matches!(program().save(folder.file("no/such/folder")), Err(Error::Io { .. })));
}

#[test]
fn a_payload_that_the_backend_refuses_names_the_file() {
    let folder = Folder::new();
    let path = folder.file("l");
    program().save(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    // The payload is the one byte 1, in base64 `AQ==`.
    std::fs::write(&path, text.replace("AQ==", "/w==")).unwrap();
    assert!(format(LoweredProgram::open(&path, &fake())).contains("checksum"));
}

#[test]
fn damaged_files_are_errors() {
    let folder = Folder::new();
    let path = folder.file("a");
    program().compile().unwrap().save(&path).unwrap();
    let good = std::fs::read(&path).unwrap();
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        CompiledArtifact::open(&path, &fake())
    };
    for n in 0..good.len() {
        assert!(open(&good[..n]).is_err(), "truncated to {n} bytes");
    }
    // Any change of one byte is an error or gives a file that still loads; it never panics.
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    for i in 0..good.len() {
        for byte in [b'9', b'"', b'[', 0xff, (random() % 256) as u8] {
            let mut bad = good.clone();
            bad[i] = byte;
            if let Ok(a) = open(&bad) {
                let _ = a.typed::<Pair, Tensor>();
                let _ = a
                    .load(Device::cpu())
                    .map(|f| f.run(Dyn::of((Tensor::ones(F32, [3, 4]), vec![Tensor::ones(F32, [7])]))));
            }
        }
    }
    let text = String::from_utf8(good).unwrap();
    let swap = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        format(open(changed.as_bytes()))
    };
    assert!(swap("\"2*B + 1\"", "\"2**B\"").starts_with("signature"));
    assert!(swap("\"2*B + 1\"", "\"B/0\"").starts_with("signature"));
    assert!(swap("{\"Open\":[\"List\",1]}", "{\"Open\":[\"List\",18446744073709551615]}").starts_with("signature"));
    assert!(swap("\"f32\"", "\"f33\"").contains("not a dtype"));
    assert!(swap("\"cpu:0\"", "\"gpu:0\"").contains("not a device"));
    let deep = format!("{{\"format\":{}", "[".repeat(100_000));
    assert!(open(deep.as_bytes()).is_err());
}
