//! Against SciPy 1.17 (`scipy.fft`), bit by bit: hashes of its results on points that are exact in single precision.

use super::{Short, ShortReal};
use num_complex::Complex;

/// The points `x_k` and `y_k`, from integers.
fn points(n: usize) -> (Vec<f32>, Vec<f32>) {
    let x = |k: usize| ((k * k * 7 + 3 * k + 1) % 23) as f32;
    let y = |k: usize| ((k * k * 5 + 11 * k + 2) % 19) as f32;
    ((0..n).map(|k| (x(k) - 11.0) / 8.0).collect(), (0..n).map(|k| (y(k) - 9.0) / 4.0).collect())
}

/// FNV-1a of the bits.
fn hash(all: impl Iterator<Item = f32>) -> u64 {
    all.flat_map(|x| x.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn complex_lines_are_those_of_scipy() {
    let mut wrong = vec![];
    for &(n, forward, back) in COMPLEX {
        let plan = Short::<f32>::new(n);
        for (direction, want) in [(true, forward), (false, back)] {
            let (x, y) = points(n);
            let mut line: Vec<Complex<f32>> = x.into_iter().zip(y).map(|(a, b)| Complex::new(a, b)).collect();
            let mut buffer = line.clone();
            plan.process(&mut line, &mut buffer, direction);
            if hash(line.iter().flat_map(|c| [c.re, c.im])) != want {
                wrong.push((n, direction));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn real_lines_are_those_of_scipy() {
    let mut wrong = vec![];
    for &(n, forward, back) in REAL {
        for (direction, want) in [(true, forward), (false, back)] {
            let Some(plan) = ShortReal::<f32>::new(n, direction) else {
                assert_eq!(want, 0, "{n}");
                continue;
            };
            let mut line = points(n).0;
            let mut buffer = line.clone();
            plan.process(&mut line, &mut buffer, direction);
            if hash(line.into_iter()) != want {
                wrong.push((n, direction));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

const COMPLEX: &[(usize, u64, u64)] = &[
    (2, 0xa116_ffbe_bb41_cd08, 0xa116_ffbe_bb41_cd08),
    (3, 0xe0ff_0a96_4451_9257, 0xdf49_0376_d060_c6d3),
    (4, 0x4041_0132_a233_fcb1, 0xeb14_99e9_8a92_c141),
    (5, 0x32a5_2942_7cde_6fb5, 0xa00e_a583_f3e5_2559),
    (6, 0x33cb_6bd1_2b2a_7c03, 0x9dfc_3590_345c_800f),
    (7, 0x0c8a_7dc5_0d30_af56, 0x1c15_ade2_43e4_8b5a),
    (8, 0xe13b_9383_c3d0_7839, 0xd50c_f573_6820_7501),
    (9, 0xd7c9_33c0_c4ba_04db, 0x5361_0c20_707e_8f78),
    (10, 0xc2e5_46a7_d1fc_bf99, 0x2cec_2f67_71fa_2ee7),
    (11, 0x45d0_f2aa_3549_81f9, 0x330a_aa17_37cf_deb1),
    (12, 0xe70f_f183_055c_1de8, 0x6cd3_3fac_900c_c538),
    (13, 0xb87b_b94d_2c36_0b54, 0x940b_ebf0_1611_807c),
    (14, 0x5b97_b639_6d31_d183, 0x317c_9ff5_d5b8_c3d9),
    (15, 0xea55_19bc_ee66_d8e0, 0x1b71_57ea_0a4a_bd34),
    (16, 0x9ef1_2765_6277_0626, 0x7eb6_6fe0_cdfc_e004),
    (17, 0xf1b5_d5ec_e791_eb0a, 0xf013_195b_e147_0912),
    (18, 0x8091_744f_8bbb_4eb6, 0x7801_4e6f_f678_6e33),
    (19, 0xd38a_655b_d684_32fc, 0x99cd_7d5b_2d73_e5ec),
    (20, 0x556c_7262_1b80_8ef9, 0xcef0_7a9b_2861_1d8e),
    (21, 0x004a_a295_aa63_3bd0, 0x4d2a_46ce_ab26_3350),
    (22, 0x4a2e_89a0_5b6c_938b, 0x419b_0d17_56c8_9d88),
    (23, 0xa4de_81c7_b023_25b8, 0x744c_c2d0_11ad_2fd0),
    (24, 0x9509_f121_1a33_960f, 0x7ce1_b816_9a69_5942),
    (25, 0x6080_de27_cdc0_069d, 0x3c89_ed46_cacd_0871),
    (26, 0x0747_984b_2264_ec58, 0xdb36_22aa_e0d7_f98b),
    (27, 0x19fb_8f60_08e7_2a58, 0x18d5_d551_d04b_09f3),
    (28, 0x758e_e692_670a_ea07, 0xa5a5_2444_2d1c_151f),
    (29, 0x39dc_01bf_7fbd_070b, 0x6cba_1f38_3503_7c87),
    (30, 0x8ae2_ad40_42dc_f2a5, 0x6327_b3af_78f4_4518),
    (31, 0x0074_7204_716a_7869, 0xce59_1074_6a18_6645),
    (32, 0x901a_15d9_f131_6044, 0x0a29_dbf5_f50c_3670),
    (33, 0x7a74_acdc_194f_3782, 0xab36_0ca0_b040_f641),
    (34, 0x9278_9ae0_a568_5cb7, 0xd14d_9009_6cbb_1a0a),
    (35, 0x0692_e479_284e_3fe1, 0x5a68_4864_cf01_148f),
    (36, 0x24fb_fbea_b946_3a6c, 0xe2aa_384a_38f3_bad2),
    (37, 0x82c4_3d0e_7b12_5c40, 0x5f37_4264_46d8_e2fc),
    (38, 0x8e46_9b57_a7d3_e647, 0x0a2b_59d7_c482_8aef),
    (39, 0x946b_dd40_17b6_f9b7, 0xbd43_c054_6b9c_1fe9),
    (40, 0xea96_2c87_52f8_006e, 0x6195_2160_fecc_4cf2),
    (41, 0xb111_475e_9602_c5f7, 0xdeed_c2e2_1b8a_dea3),
    (42, 0xbf8d_56d6_26b9_85a8, 0x91d9_0411_1a18_56ab),
    (43, 0xe5d4_6df7_bd26_10e2, 0x6fe4_6486_ce19_7536),
    (44, 0xb7e3_f17c_3c1c_b706, 0x719c_b78d_29d9_d9e5),
    (45, 0xa50b_5cae_3baf_8a1d, 0x8008_dcc5_6c6e_2bcf),
    (46, 0xcbed_e74c_2b0d_d7ef, 0x42a7_137e_40e3_9fb7),
    (47, 0x3ef5_22b7_32c7_41de, 0xc4d1_41fc_1087_b29e),
    (48, 0x26a1_b9a0_85eb_5bda, 0xe72f_e81b_b2de_b5c9),
    (49, 0x27cd_0bcb_d01a_d080, 0xac90_d0c2_e049_53d0),
];

const REAL: &[(usize, u64, u64)] = &[
    (2, 0x4c3b_c7f1_1ca5_8df5, 0x4c3b_c7f1_1ca5_8df5),
    (4, 0xb013_5532_e868_dcbb, 0x2f70_ff1d_a909_0c62),
    (7, 0x87f2_5d06_1577_eef9, 0x0000_0000_0000_0000),
    (8, 0x71e1_048a_2ea2_2dc0, 0x2309_9b05_9c3d_e5cd),
    (11, 0x9a73_d72e_d1dd_f7ca, 0x0000_0000_0000_0000),
    (13, 0x4c95_96bb_4fcf_acaa, 0x0000_0000_0000_0000),
    (16, 0x3373_27ac_a9e8_5eb1, 0x3b3c_8c0c_e6e4_b267),
    (17, 0xecae_8e73_7ae3_a35d, 0x0000_0000_0000_0000),
    (19, 0xf545_4aa1_7921_e1ff, 0x0000_0000_0000_0000),
    (23, 0x5db1_3851_e871_71c6, 0x0000_0000_0000_0000),
    (29, 0x10c0_23b9_ce4d_18e7, 0x0000_0000_0000_0000),
    (31, 0x0787_e5c4_56f0_5475, 0x0000_0000_0000_0000),
    (32, 0xb2eb_551e_1265_93ab, 0x4bb5_acdc_368d_4e81),
    (37, 0xe76a_893e_7500_e51f, 0x0000_0000_0000_0000),
    (41, 0x2309_d0f7_b92c_c903, 0x0000_0000_0000_0000),
    (43, 0x473b_9f3f_69bd_260a, 0x0000_0000_0000_0000),
    (47, 0x62a0_2cdf_60da_6e9b, 0x0000_0000_0000_0000),
];
