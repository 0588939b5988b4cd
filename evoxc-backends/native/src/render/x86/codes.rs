//! The instructions that are used, by width: of 128 bits, of 256, and of 512.

use super::mir::{Cc, G};
use iced_x86::Code;

/// One instruction on xmm, on ymm and on zmm registers; [`Code::INVALID`] where it is not used on those.
#[derive(Clone, Copy)]
pub struct P(pub Code, pub Code, pub Code);

impl P {
    /// The one for vectors of so many bytes.
    pub fn at(self, width: u8) -> Code {
        match width {
            64 => self.2,
            32 => self.1,
            _ => self.0,
        }
    }
}

pub const ADDPS: P =
    P(Code::VEX_Vaddps_xmm_xmm_xmmm128, Code::VEX_Vaddps_ymm_ymm_ymmm256, Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er);
pub const ADDPD: P = P(Code::VEX_Vaddpd_xmm_xmm_xmmm128, Code::VEX_Vaddpd_ymm_ymm_ymmm256, Code::INVALID);
pub const SUBPS: P =
    P(Code::VEX_Vsubps_xmm_xmm_xmmm128, Code::VEX_Vsubps_ymm_ymm_ymmm256, Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er);
pub const SUBPD: P = P(Code::VEX_Vsubpd_xmm_xmm_xmmm128, Code::VEX_Vsubpd_ymm_ymm_ymmm256, Code::INVALID);
pub const MULPS: P =
    P(Code::VEX_Vmulps_xmm_xmm_xmmm128, Code::VEX_Vmulps_ymm_ymm_ymmm256, Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er);
pub const MULPD: P = P(Code::VEX_Vmulpd_xmm_xmm_xmmm128, Code::VEX_Vmulpd_ymm_ymm_ymmm256, Code::INVALID);
pub const DIVPS: P =
    P(Code::VEX_Vdivps_xmm_xmm_xmmm128, Code::VEX_Vdivps_ymm_ymm_ymmm256, Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er);
pub const DIVPD: P = P(Code::VEX_Vdivpd_xmm_xmm_xmmm128, Code::VEX_Vdivpd_ymm_ymm_ymmm256, Code::INVALID);
pub const MINPS: P =
    P(Code::VEX_Vminps_xmm_xmm_xmmm128, Code::VEX_Vminps_ymm_ymm_ymmm256, Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae);
pub const MINPD: P = P(Code::VEX_Vminpd_xmm_xmm_xmmm128, Code::VEX_Vminpd_ymm_ymm_ymmm256, Code::INVALID);
pub const MAXPS: P =
    P(Code::VEX_Vmaxps_xmm_xmm_xmmm128, Code::VEX_Vmaxps_ymm_ymm_ymmm256, Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae);
pub const MAXPD: P = P(Code::VEX_Vmaxpd_xmm_xmm_xmmm128, Code::VEX_Vmaxpd_ymm_ymm_ymmm256, Code::INVALID);
pub const ANDPS: P =
    P(Code::VEX_Vandps_xmm_xmm_xmmm128, Code::VEX_Vandps_ymm_ymm_ymmm256, Code::EVEX_Vandps_zmm_k1z_zmm_zmmm512b32);
pub const XORPS: P =
    P(Code::VEX_Vxorps_xmm_xmm_xmmm128, Code::VEX_Vxorps_ymm_ymm_ymmm256, Code::EVEX_Vxorps_zmm_k1z_zmm_zmmm512b32);
pub const UNPCKLPS: P = P(Code::VEX_Vunpcklps_xmm_xmm_xmmm128, Code::VEX_Vunpcklps_ymm_ymm_ymmm256, Code::INVALID);
pub const UNPCKHPS: P = P(Code::VEX_Vunpckhps_xmm_xmm_xmmm128, Code::VEX_Vunpckhps_ymm_ymm_ymmm256, Code::INVALID);
pub const UNPCKLPD: P = P(Code::VEX_Vunpcklpd_xmm_xmm_xmmm128, Code::VEX_Vunpcklpd_ymm_ymm_ymmm256, Code::INVALID);
pub const UNPCKHPD: P = P(Code::VEX_Vunpckhpd_xmm_xmm_xmmm128, Code::VEX_Vunpckhpd_ymm_ymm_ymmm256, Code::INVALID);
pub const PADDD: P =
    P(Code::VEX_Vpaddd_xmm_xmm_xmmm128, Code::VEX_Vpaddd_ymm_ymm_ymmm256, Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32);
pub const PADDQ: P = P(Code::VEX_Vpaddq_xmm_xmm_xmmm128, Code::VEX_Vpaddq_ymm_ymm_ymmm256, Code::INVALID);
pub const PSUBD: P =
    P(Code::VEX_Vpsubd_xmm_xmm_xmmm128, Code::VEX_Vpsubd_ymm_ymm_ymmm256, Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32);
pub const PSUBQ: P = P(Code::VEX_Vpsubq_xmm_xmm_xmmm128, Code::VEX_Vpsubq_ymm_ymm_ymmm256, Code::INVALID);
pub const PMULLD: P =
    P(Code::VEX_Vpmulld_xmm_xmm_xmmm128, Code::VEX_Vpmulld_ymm_ymm_ymmm256, Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32);
pub const PMULUDQ: P = P(Code::VEX_Vpmuludq_xmm_xmm_xmmm128, Code::VEX_Vpmuludq_ymm_ymm_ymmm256, Code::INVALID);
pub const PMULDQ: P = P(Code::VEX_Vpmuldq_xmm_xmm_xmmm128, Code::VEX_Vpmuldq_ymm_ymm_ymmm256, Code::INVALID);
pub const PAND: P =
    P(Code::VEX_Vpand_xmm_xmm_xmmm128, Code::VEX_Vpand_ymm_ymm_ymmm256, Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32);
pub const PANDN: P =
    P(Code::VEX_Vpandn_xmm_xmm_xmmm128, Code::VEX_Vpandn_ymm_ymm_ymmm256, Code::EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32);
pub const POR: P =
    P(Code::VEX_Vpor_xmm_xmm_xmmm128, Code::VEX_Vpor_ymm_ymm_ymmm256, Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32);
pub const PXOR: P =
    P(Code::VEX_Vpxor_xmm_xmm_xmmm128, Code::VEX_Vpxor_ymm_ymm_ymmm256, Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32);
pub const PCMPEQD: P =
    P(Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128, Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, Code::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32);
pub const PCMPEQQ: P = P(Code::VEX_Vpcmpeqq_xmm_xmm_xmmm128, Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256, Code::INVALID);
pub const PCMPGTD: P =
    P(Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128, Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, Code::EVEX_Vpcmpgtd_kr_k1_zmm_zmmm512b32);
pub const PCMPGTQ: P = P(Code::VEX_Vpcmpgtq_xmm_xmm_xmmm128, Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256, Code::INVALID);
pub const PMINSD: P =
    P(Code::VEX_Vpminsd_xmm_xmm_xmmm128, Code::VEX_Vpminsd_ymm_ymm_ymmm256, Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32);
pub const PMINUD: P =
    P(Code::VEX_Vpminud_xmm_xmm_xmmm128, Code::VEX_Vpminud_ymm_ymm_ymmm256, Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32);
pub const PMAXSD: P =
    P(Code::VEX_Vpmaxsd_xmm_xmm_xmmm128, Code::VEX_Vpmaxsd_ymm_ymm_ymmm256, Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32);
pub const PMAXUD: P =
    P(Code::VEX_Vpmaxud_xmm_xmm_xmmm128, Code::VEX_Vpmaxud_ymm_ymm_ymmm256, Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32);
pub const PSLLVD: P =
    P(Code::VEX_Vpsllvd_xmm_xmm_xmmm128, Code::VEX_Vpsllvd_ymm_ymm_ymmm256, Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32);
pub const PSRLVD: P =
    P(Code::VEX_Vpsrlvd_xmm_xmm_xmmm128, Code::VEX_Vpsrlvd_ymm_ymm_ymmm256, Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32);
pub const PSRAVD: P =
    P(Code::VEX_Vpsravd_xmm_xmm_xmmm128, Code::VEX_Vpsravd_ymm_ymm_ymmm256, Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32);
pub const PSLLVQ: P = P(Code::VEX_Vpsllvq_xmm_xmm_xmmm128, Code::VEX_Vpsllvq_ymm_ymm_ymmm256, Code::INVALID);
pub const PSRLVQ: P = P(Code::VEX_Vpsrlvq_xmm_xmm_xmmm128, Code::VEX_Vpsrlvq_ymm_ymm_ymmm256, Code::INVALID);
pub const PACKSSDW: P = P(Code::VEX_Vpackssdw_xmm_xmm_xmmm128, Code::VEX_Vpackssdw_ymm_ymm_ymmm256, Code::INVALID);
pub const PACKUSDW: P = P(Code::VEX_Vpackusdw_xmm_xmm_xmmm128, Code::VEX_Vpackusdw_ymm_ymm_ymmm256, Code::INVALID);
pub const PACKSSWB: P = P(Code::VEX_Vpacksswb_xmm_xmm_xmmm128, Code::VEX_Vpacksswb_ymm_ymm_ymmm256, Code::INVALID);
pub const PACKUSWB: P = P(Code::VEX_Vpackuswb_xmm_xmm_xmmm128, Code::VEX_Vpackuswb_ymm_ymm_ymmm256, Code::INVALID);
pub const CMPPS: P = P(
    Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8,
    Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
    Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
);
pub const CMPPD: P = P(Code::VEX_Vcmppd_xmm_xmm_xmmm128_imm8, Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8, Code::INVALID);
pub const PBLENDD: P =
    P(Code::VEX_Vpblendd_xmm_xmm_xmmm128_imm8, Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8, Code::INVALID);
pub const PBLENDW: P =
    P(Code::VEX_Vpblendw_xmm_xmm_xmmm128_imm8, Code::VEX_Vpblendw_ymm_ymm_ymmm256_imm8, Code::INVALID);
pub const SHUFPS: P = P(Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8, Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8, Code::INVALID);
pub const SQRTPS: P =
    P(Code::VEX_Vsqrtps_xmm_xmmm128, Code::VEX_Vsqrtps_ymm_ymmm256, Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er);
pub const SQRTPD: P = P(Code::VEX_Vsqrtpd_xmm_xmmm128, Code::VEX_Vsqrtpd_ymm_ymmm256, Code::INVALID);
pub const PABSD: P =
    P(Code::VEX_Vpabsd_xmm_xmmm128, Code::VEX_Vpabsd_ymm_ymmm256, Code::EVEX_Vpabsd_zmm_k1z_zmmm512b32);
pub const CVTDQ2PS: P =
    P(Code::VEX_Vcvtdq2ps_xmm_xmmm128, Code::VEX_Vcvtdq2ps_ymm_ymmm256, Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er);
pub const CVTTPS2DQ: P =
    P(Code::VEX_Vcvttps2dq_xmm_xmmm128, Code::VEX_Vcvttps2dq_ymm_ymmm256, Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae);
pub const PTEST: P = P(Code::VEX_Vptest_xmm_xmmm128, Code::VEX_Vptest_ymm_ymmm256, Code::INVALID);
pub const MOVUPS: P =
    P(Code::VEX_Vmovups_xmm_xmmm128, Code::VEX_Vmovups_ymm_ymmm256, Code::EVEX_Vmovups_zmm_k1z_zmmm512);
pub const ROUNDPS: P = P(
    Code::VEX_Vroundps_xmm_xmmm128_imm8,
    Code::VEX_Vroundps_ymm_ymmm256_imm8,
    Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
);
pub const ROUNDPD: P = P(Code::VEX_Vroundpd_xmm_xmmm128_imm8, Code::VEX_Vroundpd_ymm_ymmm256_imm8, Code::INVALID);
pub const PSLLDI: P =
    P(Code::VEX_Vpslld_xmm_xmm_imm8, Code::VEX_Vpslld_ymm_ymm_imm8, Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8);
pub const PSRLDI: P =
    P(Code::VEX_Vpsrld_xmm_xmm_imm8, Code::VEX_Vpsrld_ymm_ymm_imm8, Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8);
pub const PSRADI: P =
    P(Code::VEX_Vpsrad_xmm_xmm_imm8, Code::VEX_Vpsrad_ymm_ymm_imm8, Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8);
pub const PSLLQI: P = P(Code::VEX_Vpsllq_xmm_xmm_imm8, Code::VEX_Vpsllq_ymm_ymm_imm8, Code::INVALID);
pub const PSRLQI: P = P(Code::VEX_Vpsrlq_xmm_xmm_imm8, Code::VEX_Vpsrlq_ymm_ymm_imm8, Code::INVALID);
pub const BLENDVPS: P =
    P(Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm, Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, Code::INVALID);
pub const BLENDVPD: P =
    P(Code::VEX_Vblendvpd_xmm_xmm_xmmm128_xmm, Code::VEX_Vblendvpd_ymm_ymm_ymmm256_ymm, Code::INVALID);
pub const STORE: P =
    P(Code::VEX_Vmovups_xmmm128_xmm, Code::VEX_Vmovups_ymmm256_ymm, Code::EVEX_Vmovups_zmmm512_k1z_zmm);
pub const STREAM: P = P(Code::VEX_Vmovntps_m128_xmm, Code::VEX_Vmovntps_m256_ymm, Code::EVEX_Vmovntps_m512_zmm);
pub const PMOVSXBD: P =
    P(Code::VEX_Vpmovsxbd_xmm_xmmm32, Code::VEX_Vpmovsxbd_ymm_xmmm64, Code::EVEX_Vpmovsxbd_zmm_k1z_xmmm128);
pub const PMOVZXBD: P =
    P(Code::VEX_Vpmovzxbd_xmm_xmmm32, Code::VEX_Vpmovzxbd_ymm_xmmm64, Code::EVEX_Vpmovzxbd_zmm_k1z_xmmm128);
pub const PMOVSXWD: P =
    P(Code::VEX_Vpmovsxwd_xmm_xmmm64, Code::VEX_Vpmovsxwd_ymm_xmmm128, Code::EVEX_Vpmovsxwd_zmm_k1z_ymmm256);
pub const PMOVZXWD: P =
    P(Code::VEX_Vpmovzxwd_xmm_xmmm64, Code::VEX_Vpmovzxwd_ymm_xmmm128, Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256);
pub const PMOVSXDQ: P = P(Code::VEX_Vpmovsxdq_xmm_xmmm64, Code::VEX_Vpmovsxdq_ymm_xmmm128, Code::INVALID);
pub const PMOVZXDQ: P = P(Code::VEX_Vpmovzxdq_xmm_xmmm64, Code::VEX_Vpmovzxdq_ymm_xmmm128, Code::INVALID);
pub const CVTPH2PS: P =
    P(Code::VEX_Vcvtph2ps_xmm_xmmm64, Code::VEX_Vcvtph2ps_ymm_xmmm128, Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae);
pub const CVTPS2PH: P = P(
    Code::VEX_Vcvtps2ph_xmmm64_xmm_imm8,
    Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8,
    Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae,
);
pub const CVTDQ2PD: P = P(Code::VEX_Vcvtdq2pd_xmm_xmmm64, Code::VEX_Vcvtdq2pd_ymm_xmmm128, Code::INVALID);
pub const CVTPS2PD: P = P(Code::VEX_Vcvtps2pd_xmm_xmmm64, Code::VEX_Vcvtps2pd_ymm_xmmm128, Code::INVALID);
pub const CVTPD2PS: P = P(Code::VEX_Vcvtpd2ps_xmm_xmmm128, Code::VEX_Vcvtpd2ps_xmm_ymmm256, Code::INVALID);
pub const CVTTPD2DQ: P = P(Code::VEX_Vcvttpd2dq_xmm_xmmm128, Code::VEX_Vcvttpd2dq_xmm_ymmm256, Code::INVALID);
pub const PBROADCASTD: P =
    P(Code::VEX_Vpbroadcastd_xmm_xmmm32, Code::VEX_Vpbroadcastd_ymm_xmmm32, Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32);
pub const PBROADCASTQ: P =
    P(Code::VEX_Vpbroadcastq_xmm_xmmm64, Code::VEX_Vpbroadcastq_ymm_xmmm64, Code::EVEX_Vpbroadcastq_zmm_k1z_xmmm64);
pub const PGATHERDD: P = P(Code::VEX_Vpgatherdd_xmm_vm32x_xmm, Code::VEX_Vpgatherdd_ymm_vm32y_ymm, Code::INVALID);
pub const PGATHERQD: P = P(Code::VEX_Vpgatherqd_xmm_vm64x_xmm, Code::VEX_Vpgatherqd_xmm_vm64y_xmm, Code::INVALID);
pub const PGATHERDQ: P = P(Code::VEX_Vpgatherdq_xmm_vm32x_xmm, Code::VEX_Vpgatherdq_ymm_vm32x_ymm, Code::INVALID);
pub const PGATHERQQ: P = P(Code::VEX_Vpgatherqq_xmm_vm64x_xmm, Code::VEX_Vpgatherqq_ymm_vm64y_ymm, Code::INVALID);
/// The row of a table of fused products for vectors of so many bytes.
pub fn row(width: u8) -> usize {
    usize::from(width / 32)
}
/// Does it write a mask register, not a vector?
pub fn makes_mask(code: Code) -> bool {
    [CMPPS.2, PCMPEQD.2, PCMPGTD.2].contains(&code)
}
pub const FMADDPS: [[Code; 3]; 3] = [
    [
        Code::VEX_Vfmadd132ps_xmm_xmm_xmmm128,
        Code::VEX_Vfmadd213ps_xmm_xmm_xmmm128,
        Code::VEX_Vfmadd231ps_xmm_xmm_xmmm128,
    ],
    [
        Code::VEX_Vfmadd132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
    ],
    [
        Code::EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
    ],
];
pub const FMADDPD: [[Code; 3]; 2] = [
    [
        Code::VEX_Vfmadd132pd_xmm_xmm_xmmm128,
        Code::VEX_Vfmadd213pd_xmm_xmm_xmmm128,
        Code::VEX_Vfmadd231pd_xmm_xmm_xmmm128,
    ],
    [
        Code::VEX_Vfmadd132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd231pd_ymm_ymm_ymmm256,
    ],
];
pub const FMADDSS: [Code; 3] =
    [Code::VEX_Vfmadd132ss_xmm_xmm_xmmm32, Code::VEX_Vfmadd213ss_xmm_xmm_xmmm32, Code::VEX_Vfmadd231ss_xmm_xmm_xmmm32];
pub const FMADDSD: [Code; 3] =
    [Code::VEX_Vfmadd132sd_xmm_xmm_xmmm64, Code::VEX_Vfmadd213sd_xmm_xmm_xmmm64, Code::VEX_Vfmadd231sd_xmm_xmm_xmmm64];

/// Arithmetic of two operands, in its forms.
pub fn g3_codes(op: G, w: u8) -> [Code; 4] {
    // Register and memory; memory and register; with 8 bits; with 32.
    match (op, w) {
        (G::Add, 8) => [Code::Add_r64_rm64, Code::Add_rm64_r64, Code::Add_rm64_imm8, Code::Add_rm64_imm32],
        (G::Add, _) => [Code::Add_r32_rm32, Code::Add_rm32_r32, Code::Add_rm32_imm8, Code::Add_rm32_imm32],
        (G::Sub, 8) => [Code::Sub_r64_rm64, Code::Sub_rm64_r64, Code::Sub_rm64_imm8, Code::Sub_rm64_imm32],
        (G::Sub, _) => [Code::Sub_r32_rm32, Code::Sub_rm32_r32, Code::Sub_rm32_imm8, Code::Sub_rm32_imm32],
        (G::And, 8) => [Code::And_r64_rm64, Code::And_rm64_r64, Code::And_rm64_imm8, Code::And_rm64_imm32],
        (G::And, _) => [Code::And_r32_rm32, Code::And_rm32_r32, Code::And_rm32_imm8, Code::And_rm32_imm32],
        (G::Or, 8) => [Code::Or_r64_rm64, Code::Or_rm64_r64, Code::Or_rm64_imm8, Code::Or_rm64_imm32],
        (G::Or, _) => [Code::Or_r32_rm32, Code::Or_rm32_r32, Code::Or_rm32_imm8, Code::Or_rm32_imm32],
        (G::Xor, 8) => [Code::Xor_r64_rm64, Code::Xor_rm64_r64, Code::Xor_rm64_imm8, Code::Xor_rm64_imm32],
        (G::Xor, _) => [Code::Xor_r32_rm32, Code::Xor_rm32_r32, Code::Xor_rm32_imm8, Code::Xor_rm32_imm32],
        (G::Imul, 8) => [Code::Imul_r64_rm64, Code::Imul_r64_rm64, Code::Imul_r64_rm64_imm8, Code::Imul_r64_rm64_imm32],
        (G::Imul, _) => [Code::Imul_r32_rm32, Code::Imul_r32_rm32, Code::Imul_r32_rm32_imm8, Code::Imul_r32_rm32_imm32],
    }
}

/// Conditional moves.
pub fn cmov(cc: Cc, w: u8) -> Code {
    match (cc, w) {
        (Cc::E, 8) => Code::Cmove_r64_rm64,
        (Cc::E, _) => Code::Cmove_r32_rm32,
        (Cc::Ne, 8) => Code::Cmovne_r64_rm64,
        (Cc::Ne, _) => Code::Cmovne_r32_rm32,
        (Cc::L, 8) => Code::Cmovl_r64_rm64,
        (Cc::L, _) => Code::Cmovl_r32_rm32,
        (Cc::Le, 8) => Code::Cmovle_r64_rm64,
        (Cc::Le, _) => Code::Cmovle_r32_rm32,
        (Cc::G, 8) => Code::Cmovg_r64_rm64,
        (Cc::G, _) => Code::Cmovg_r32_rm32,
        (Cc::Ge, 8) => Code::Cmovge_r64_rm64,
        (Cc::Ge, _) => Code::Cmovge_r32_rm32,
        (Cc::B, 8) => Code::Cmovb_r64_rm64,
        (Cc::B, _) => Code::Cmovb_r32_rm32,
        (Cc::Be, 8) => Code::Cmovbe_r64_rm64,
        (Cc::Be, _) => Code::Cmovbe_r32_rm32,
        (Cc::A, 8) => Code::Cmova_r64_rm64,
        (Cc::A, _) => Code::Cmova_r32_rm32,
        (Cc::Ae, 8) => Code::Cmovae_r64_rm64,
        (Cc::Ae, _) => Code::Cmovae_r32_rm32,
    }
}
/// Conditions as 0 or 1.
pub fn set(cc: Cc) -> Code {
    match cc {
        Cc::E => Code::Sete_rm8,
        Cc::Ne => Code::Setne_rm8,
        Cc::L => Code::Setl_rm8,
        Cc::Le => Code::Setle_rm8,
        Cc::G => Code::Setg_rm8,
        Cc::Ge => Code::Setge_rm8,
        Cc::B => Code::Setb_rm8,
        Cc::Be => Code::Setbe_rm8,
        Cc::A => Code::Seta_rm8,
        Cc::Ae => Code::Setae_rm8,
    }
}
