/* Trilinear oscillators driven by samples joined by straight lines, exactly: the loop a C programmer would write.
 *
 * The algorithm is the library's. Within a region the motion is a Taylor series in theta = time / step,
 *     X' = h V,  V' = h (u - c V - k X - f) / m,
 * and the first crossing of a border is found by advancing only as far as a quadratic lower bound of the distance
 * to it stays positive, finished by one Newton step. A step ends at a crossing or at the next sample. One parameter
 * set at a time, threads share the sets.
 *
 * Series of this length are exact to rounding while h sqrt(k / m) < 1.5. */

#include <tgmath.h>

#ifndef REAL
#define REAL double
#define ORDER 20 /* even */
#endif

typedef REAL real;

static real weight[ORDER + 1]; /* 1 / j */

typedef struct {
    real damping, mass;
    real stiffness[3], constant[3], low[3], high[3]; /* f = stiffness x + constant between low and high */
    int start;                                       /* the region that contains zero, where f vanishes */
} oscillator;

static oscillator prepare(const double *p) { /* m c kL k0 kR dL dR; the borders may lie on one side of zero */
    const real left = p[5], right = p[6];
    oscillator o = {
        .mass = p[0],
        .damping = p[1],
        .stiffness = {p[2], p[3], p[4]},
        .constant = {((real)p[3] - p[2]) * left, 0, ((real)p[3] - p[4]) * right},
        .low = {-INFINITY, left, right},
        .high = {left, right, INFINITY},
        .start = (left < 0) + (right < 0),
    };
    const real at_zero = o.constant[o.start];
    for (int i = 0; i < 3; i++) o.constant[i] -= at_zero;
    return o;
}

static inline real polynomial(const real *a, real theta) { /* even and odd powers apart: half the waiting */
    const real square = theta * theta;
    real even = a[ORDER], odd = a[ORDER - 1];
    for (int j = ORDER - 2; j >= 2; j -= 2) {
        even = even * square + a[j];
        odd = odd * square + a[j - 1];
    }
    return (even * square + a[0]) + odd * theta;
}

/* Smallest d > 0 with g + slope d + bound d d / 2 = 0, or far away. */
static inline real reach(real g, real slope, real bound) {
    if (!(g > 0)) g = 0;
    const real inside = slope * slope - 2 * bound * g;
    if (inside < 0 || (slope > 0 && bound >= 0)) return 2;
    const real total = fabs(slope) + sqrt(inside);
    return slope > 0 ? total / -bound : 2 * g / total;
}

/* One step from (x, v) of at most h; returns how much of it was done and the direction of the crossing, if any. */
static inline real step(const oscillator *o, int region, real h, real u, real slope, real *x, real *v, int *crossed) {
    const real low = o->low[region], high = o->high[region];
    const real a = -h * o->damping / o->mass, b = -h * o->stiffness[region] / o->mass, per_mass = h / o->mass;
    real X[ORDER + 1], V[ORDER + 1];
    X[0] = *x;
    V[0] = *v;
    X[1] = h * V[0];
    V[1] = a * V[0] + b * X[0] + per_mass * (u - o->constant[region]);
    X[2] = (h / 2) * V[1];
    V[2] = (a / 2) * V[1] + (b / 2) * X[1] + (h / 2) * per_mass * slope;
    for (int j = 2; j < ORDER; j++) {
        X[j + 1] = (h * weight[j + 1]) * V[j];
        V[j + 1] = (a * weight[j + 1]) * V[j] + (b * weight[j + 1]) * X[j];
    }
    real least = 2 * X[2], most = 2 * X[2]; /* bounds of the second derivative */
    for (int j = 3; j <= ORDER; j++) {
        const real bend = j * (j - 1) * X[j];
        least += bend < 0 ? bend : 0;
        most += bend > 0 ? bend : 0;
    }
    real theta = 0, place = X[0], speed = X[1];
    *crossed = 0;
    for (int round = 0; round < 30 && theta < 1 && !*crossed; round++) {
        theta += fmin(reach(place - low, speed, least), reach(high - place, -speed, -most));
        if (theta > 1) theta = 1;
        place = polynomial(X, theta);
        speed = h * polynomial(V, theta);
        if (theta == 1) break;
        if (speed < 0 && place - low < -1e-9 * speed) *crossed = -1;
        if (speed > 0 && high - place < 1e-9 * speed) *crossed = 1;
    }
    if (*crossed) {
        const real border = *crossed < 0 ? low : high;
        theta -= (place - border) / speed;
        place = border;
        speed = h * polynomial(V, theta);
    }
    *x = place;
    *v = speed / h;
    return theta;
}

static double output(const oscillator *o, int region, real u, real x, real v, int accelerations) {
    if (!accelerations) return x;
    return (u - o->damping * v - o->stiffness[region] * x - o->constant[region]) / o->mass;
}

static long one(const double *parameters, long samples, double interval, const double *input, int accelerations,
                double *out) {
    const oscillator o = prepare(parameters);
    real x = 0, v = 0;
    int region = o.start;
    long steps = 0;
    out[0] = output(&o, region, input[0], x, v, accelerations);
    for (long i = 0; i + 1 < samples; i++) {
        const real slope = ((real)input[i + 1] - input[i]) / interval;
        real since = 0;
        for (;;) {
            int crossed;
            const real left = interval - since;
            const real done = step(&o, region, left, input[i] + slope * since, slope, &x, &v, &crossed);
            steps++;
            if (done >= 1 && !crossed) break;
            since += done * left;
            region += crossed;
        }
        out[i + 1] = output(&o, region, input[i + 1], x, v, accelerations);
    }
    return steps;
}

/* parameters: (sets, 7), input: (samples,), out: displacements or accelerations (sets, samples).
 * Returns the number of steps. */
long trilinear(long sets, long samples, double interval, const double *parameters, const double *input,
               int accelerations, double *out) {
    long steps = 0;
    for (int j = 1; j <= ORDER; j++) weight[j] = (real)1 / j;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : steps)
    for (long s = 0; s < sets; s++)
        steps += one(parameters + 7 * s, samples, interval, input, accelerations, out + s * samples);
    return steps;
}
