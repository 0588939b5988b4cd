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
            let plan = ShortReal::<f32>::new(n).unwrap();
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
    (3, 0x3de2_f9cd_90e0_5b29, 0x0c4f_e92b_d94a_9a5c),
    (4, 0xb013_5532_e868_dcbb, 0x2f70_ff1d_a909_0c62),
    (6, 0x43ed_c0c5_3ac8_ce4f, 0x908c_5b07_012d_818b),
    (7, 0x87f2_5d06_1577_eef9, 0x8d49_686a_afc2_77a6),
    (8, 0x71e1_048a_2ea2_2dc0, 0x2309_9b05_9c3d_e5cd),
    (9, 0x10f2_b193_3c28_7aaf, 0xc28e_4f11_960f_eeca),
    (11, 0x9a73_d72e_d1dd_f7ca, 0x220b_4072_46cf_9489),
    (12, 0x76b6_4d1d_f17f_ca71, 0x1908_675e_b0a7_e440),
    (13, 0x4c95_96bb_4fcf_acaa, 0x0035_ebf0_4bd0_533b),
    (14, 0x53b6_e591_51fe_b0d3, 0x9ff5_e714_ebb9_7780),
    (16, 0x3373_27ac_a9e8_5eb1, 0x3b3c_8c0c_e6e4_b267),
    (17, 0xecae_8e73_7ae3_a35d, 0x443c_0925_2f3a_af67),
    (18, 0xfc67_3150_b4c3_1734, 0x89c3_116d_fda3_ba91),
    (19, 0xf545_4aa1_7921_e1ff, 0x1f93_e2bc_ac34_02e9),
    (21, 0x893b_739b_6c88_482f, 0x4053_221f_f603_591a),
    (22, 0xfbb4_f0a0_a624_017b, 0xc4b9_1bba_0acf_2441),
    (23, 0x5db1_3851_e871_71c6, 0x4a88_7007_e529_fd32),
    (24, 0x6d78_13a0_4bdb_ed03, 0x9e17_302c_7d06_7374),
    (26, 0xcd65_f3b4_7025_e024, 0xbe71_eb57_8c1a_3154),
    (27, 0x292c_0cbf_6c0a_4905, 0x4a03_16df_1261_d7f8),
    (28, 0xc77e_deff_eb52_5d5b, 0x4072_89ef_6dbe_65e6),
    (29, 0x10c0_23b9_ce4d_18e7, 0x1ebd_b358_5cf1_60ff),
    (31, 0x0787_e5c4_56f0_5475, 0x9733_8287_09e4_8d34),
    (32, 0xb2eb_551e_1265_93ab, 0x4bb5_acdc_368d_4e81),
    (33, 0xc8d0_7d69_97fe_2b42, 0x1fd4_55fc_fcbd_0526),
    (34, 0x1997_c18d_362e_e50f, 0x3a11_d546_21bc_7417),
    (36, 0x98d3_b0e7_028e_05fc, 0x6c94_5259_a901_537c),
    (37, 0xe76a_893e_7500_e51f, 0xac90_4ce9_63e7_ae4b),
    (38, 0x625d_ecd0_d4c9_b49d, 0x7a02_51f6_09d3_4379),
    (39, 0xf7a4_1f8f_21c7_fd49, 0xdf44_69be_2536_89d1),
    (41, 0x2309_d0f7_b92c_c903, 0xe9c1_b542_caf1_fc2d),
    (42, 0x8467_d329_20f1_6fe6, 0xfb94_d65c_9d72_7ecc),
    (43, 0x473b_9f3f_69bd_260a, 0x685f_5fce_31e6_cd9a),
    (44, 0x3fab_737a_caeb_4ab0, 0x2f6c_2651_0fe0_ad61),
    (46, 0x9fcc_b320_93c4_5996, 0xa027_0a13_30d1_e412),
    (47, 0x62a0_2cdf_60da_6e9b, 0xb498_31b7_ef20_952b),
    (48, 0xa38e_3cb3_d804_533d, 0xb181_1b54_6901_aab8),
];
