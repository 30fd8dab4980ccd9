/* elementary.h - exp, log, sin, cos and tanh of vectors, in line, for *.isa.c files.
 *
 * Within 2 units in the last place on the whole range (tests/math/test_vecmath.c); NaN, infinities, zeros and
 * subnormal results as in libm. Polynomials interpolate at Chebyshev nodes; what they leave out is below
 * 2^-55. Only + - * / and comparisons are used, so that every machine with vectors of doubles runs them. */
#ifndef MCP_ELEMENTARY_H
#define MCP_ELEMENTARY_H

#include "math/lanes.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define MCP_ROUNDER 0x1.8p52 /* adding it rounds to a whole number, which is then in the low bits */

MCP_INLINE mcp_v mcp_v_abs(mcp_v x)
{
    return mcp_v_and(mcp_vu_all(~(1ull << 63)), x);
}

/* |x| with the sign of y */
MCP_INLINE mcp_v mcp_v_signed(mcp_v x, mcp_v y)
{
    return (mcp_v)((mcp_vu)mcp_v_abs(x) | ((mcp_vu)y & (1ull << 63)));
}

/* Whether any lane of a mask is set. */
MCP_INLINE int mcp_v_any(mcp_vu mask)
{
#if MCP_W == 4 && defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
    uint64_t any = 0;
    for (int i = 0; i < MCP_W; i++) any |= mask[i];
    return any != 0;
#endif
}

/* 2^n of the whole number that t holds after MCP_ROUNDER was added; n from -1022 to 1023. */
MCP_INLINE mcp_v mcp_v_two_to(mcp_v t)
{
    return (mcp_v)(((mcp_vu)t << 52) + (mcp_vu)mcp_v_all(1.0));
}

/* exp(r) - 1 for |r| <= ln(2)/2 */
MCP_INLINE mcp_v mcp_v_exp_less_one(mcp_v r)
{
    mcp_v r2 = r * r, r4 = r2 * r2; /* in pairs: a short chain matters more than a few operations */
    mcp_v p0 = r * 0.16666666666666669 + 0.5000000000000001;
    mcp_v p1 = r * 0.008333333333330039 + 0.041666666666623824;
    mcp_v p2 = r * 0.00019841269863171557 + 0.0013888888917367081;
    mcp_v p3 = r * 2.7557268276905696e-06 + 2.4801521057868204e-05;
    mcp_v p4 = r * 2.5100472505694996e-08 + 2.7620201591031547e-07;
    return ((p0 + r2 * p1) + r4 * ((p2 + r2 * p3) + r4 * p4)) * r2 + r;
}

/* x - n ln 2; the first part of ln 2 ends in zeros, so that its product is exact. */
MCP_INLINE mcp_v mcp_v_less_ln2(mcp_v x, mcp_v n)
{
    return (x - n * 0x1.62e42ffp-1) - n * -0x1.718432a1b0e26p-35;
}

MCP_INLINE mcp_v mcp_v_exp(mcp_v x)
{
    const mcp_v low = mcp_v_all(-746.0), high = mcp_v_all(710.0);
    x       = mcp_v_select((mcp_vu)(x < low), low, x);
    x       = mcp_v_select((mcp_vu)(x > high), high, x);
    mcp_v t = x * 1.4426950408889634 + MCP_ROUNDER, n = t - MCP_ROUNDER;
    mcp_v e = mcp_v_exp_less_one(mcp_v_less_ln2(x, n)) + 1.0;
    /* 2^n in two halves: the whole may be beyond the range of normal numbers */
    mcp_v half = n * 0.5 + MCP_ROUNDER, rest = n - (half - MCP_ROUNDER) + MCP_ROUNDER;
    return e * mcp_v_two_to(half) * mcp_v_two_to(rest);
}

/* x = 2^e (1 + f), f from sqrt(1/2) - 1 to sqrt(2) - 1; log(1 + f) by s = f/(2 + f): with z = s^2 it is
 * f - f^2/2 + s (f^2/2 + z Q(z)). */
MCP_INLINE mcp_v mcp_v_log(mcp_v x)
{
    const mcp_v inf = mcp_v_all(INFINITY);
    mcp_vu      tiny = (mcp_vu)(x < mcp_v_all(0x1p-1022)), split = mcp_vu_all(0x3fe6a09e667f3bcdull);
    mcp_v       y = mcp_v_select(tiny, x * 0x1p54, x);
    mcp_vu      up = (mcp_vu)y - split; /* exponent from sqrt(1/2) on, biased by nothing */
    mcp_v       m = (mcp_v)((up & 0xfffffffffffffull) + split);
    /* the exponent as a double: 12 bits, moved to the low end of a large number */
    mcp_v e = (mcp_v)(((up + (1024ull << 52)) >> 52) | (mcp_vu)mcp_v_all(0x1p52)) - (0x1p52 + 1024.0);
    e       = e - mcp_v_and(tiny, mcp_v_all(54.0));
    mcp_v f = m - 1.0, half = 0.5 * f * f, s = f / (f + 2.0), z = s * s;
    mcp_v Q = z * 0.14617807153417325 + 0.15331611722055008;
    Q       = Q * z + 0.1818289243253687;
    Q       = Q * z + 0.22222211089379496;
    Q       = Q * z + 0.28571428626253836;
    Q       = Q * z + 0.3999999999989889;
    Q       = Q * z + 0.666666666666667;
    mcp_v r = s * (half + z * Q) + e * -0x1.718432a1b0e26p-35;
    r       = e * 0x1.62e42ffp-1 + (f - (half - r));
    r       = mcp_v_select((mcp_vu)(x < inf), r, x); /* infinity and NaN stay */
    r       = mcp_v_select((mcp_vu)(x == 0.0), -inf, r);
    return mcp_v_select((mcp_vu)(x < 0.0), mcp_v_all(NAN), r);
}

/* sin and cos of |x| up to MCP_QUARTERS quarter turns: the rest after whole quarters, in three parts of pi/2
 * of which two end in zeros, then the polynomials of sine and cosine. */
#define MCP_QUARTERS 0x1p19

typedef struct {
    mcp_v  sin, cos;
    mcp_vu quarter;
} mcp_v_turned;

MCP_INLINE mcp_v_turned mcp_v_turn(mcp_v x)
{
    mcp_v t = x * 0.63661977236758134 + MCP_ROUNDER, n = t - MCP_ROUNDER;
    mcp_v a = x - n * 0x1.921fb544p+0, b = n * 0x1.0b4611a6p-34;
    mcp_v r0 = a - b, low = ((a - r0) - b) - n * 0x1.3198a2e037073p-69;
    mcp_v r = r0 + low, z = r * r;
    mcp_v S = z * 1.591784866512194e-10 + -2.505112794596564e-08;
    S       = S * z + 2.755731608382574e-06;
    S       = S * z + -0.00019841269836722437;
    S       = S * z + 0.008333333333330925;
    S       = S * z + -0.16666666666666666;
    mcp_v C = z * -1.1382456865840481e-11 + 2.0876143829213935e-09;
    C       = C * z + -2.755731726001471e-07;
    C       = C * z + 2.480158729874308e-05;
    C       = C * z + -0.0013888888888887382;
    C       = C * z + 0.041666666666666664;
    mcp_v half = 0.5 * z, one = 1.0 - half;
    return (mcp_v_turned){.sin = (z * r) * S + r,
                          .cos = one + (((1.0 - one) - half) + (z * z) * C),
                          .quarter = (mcp_vu)t};
}

/* The sine of the angle plus so many quarters. */
MCP_INLINE mcp_v mcp_v_turned_sin(const mcp_v_turned *a, uint64_t quarters)
{
    mcp_vu q = a->quarter + quarters;
    mcp_v  s = mcp_v_select(-(q & 1), a->cos, a->sin);
    return (mcp_v)((mcp_vu)s ^ ((q & 2) << 62));
}

MCP_INLINE void mcp_v_sin_cos_near(mcp_v x, mcp_v *s, mcp_v *c)
{
    mcp_v_turned a = mcp_v_turn(x);
    *s = mcp_v_turned_sin(&a, 0);
    *c = mcp_v_turned_sin(&a, 1);
}

/* Lanes for libm, NaN among them. A lane's result never depends on its neighbours. */
MCP_INLINE mcp_vu mcp_v_far(mcp_v x)
{
    return ~(mcp_vu)(mcp_v_abs(x) <= mcp_v_all(MCP_QUARTERS));
}

MCP_INLINE mcp_v mcp_v_sin(mcp_v x)
{
    mcp_v_turned a = mcp_v_turn(x);
    mcp_v        y = mcp_v_turned_sin(&a, 0);
    if (__builtin_expect(mcp_v_any(mcp_v_far(x)), 0))
        for (int i = 0; i < MCP_W; i++) y[i] = mcp_v_far(x)[i] ? sin(x[i]) : y[i];
    return y;
}

MCP_INLINE mcp_v mcp_v_cos(mcp_v x)
{
    mcp_v_turned a = mcp_v_turn(x);
    mcp_v        y = mcp_v_turned_sin(&a, 1);
    if (__builtin_expect(mcp_v_any(mcp_v_far(x)), 0))
        for (int i = 0; i < MCP_W; i++) y[i] = mcp_v_far(x)[i] ? cos(x[i]) : y[i];
    return y;
}

/* e/(e + 2) with e = exp(2 |x|) - 1 = 2^n (exp(r) - 1) + (2^n - 1), from 20 on it is 1; near 0, where that
 * would lose more than a digit's half, x + x^3 T(x^2). */
MCP_INLINE mcp_v mcp_v_tanh(mcp_v x)
{
    const mcp_v most = mcp_v_all(40.0), near = mcp_v_all(0.36);
    mcp_v       a = mcp_v_abs(x), y = mcp_v_select((mcp_vu)(a + a > most), most, a + a), z = a * a;
    mcp_v t = y * 1.4426950408889634 + MCP_ROUNDER, n = t - MCP_ROUNDER, scale = mcp_v_two_to(t);
    mcp_v e = scale * mcp_v_exp_less_one(mcp_v_less_ln2(y, n)) + (scale - 1.0);
    mcp_v T = z * -0.00018964726016580815 + 0.0005785381418443278;
    T       = T * z + -0.0014543620323563238;
    T       = T * z + 0.0035920170244781394;
    T       = T * z + -0.008863230589354409;
    T       = T * z + 0.02186948841228676;
    T       = T * z + -0.05396825396669524;
    T       = T * z + 0.13333333333332578;
    T       = T * z + -0.3333333333333333;
    mcp_v w = mcp_v_select((mcp_vu)(a < near), (a * z) * T + a, e / (e + 2.0));
    return mcp_v_signed(w, x);
}

#endif
