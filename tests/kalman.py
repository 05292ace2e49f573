"""The Kalman filter and smoother in plain NumPy, as the textbooks have them: an oracle for ours."""

import numpy as np
import scipy.linalg as sl


def discrete(A, B, interval):
    """Transition matrix and noise covariance over an interval, after Van Loan."""
    n = len(A)
    whole = sl.expm(interval * np.block([[-A, B @ B.T], [np.zeros((n, n)), A.T]]))
    F = whole[n:, n:].T
    return F, F @ whole[:n, n:]


def kalman(F, Q, H, R, x, P, outputs, drive=None):
    """Log-likelihood, filtered means and covariances; rows of ``drive`` are added after each sample."""
    total, means, covariances = 0.0, [], []
    for k, y in enumerate(outputs):
        there = ~np.isnan(y)
        if there.any():
            Hk, Rk = H[there], R[np.ix_(there, there)]
            S = Hk @ P @ Hk.T + Rk
            r = y[there] - Hk @ x
            total += -0.5 * (np.linalg.slogdet(2 * np.pi * S)[1] + r @ np.linalg.solve(S, r))
            K = np.linalg.solve(S, Hk @ P).T
            x, P = x + K @ r, P - K @ S @ K.T
        means.append(x)
        covariances.append(P)
        x, P = F @ x + (0.0 if drive is None else drive[k]), F @ P @ F.T + Q
    return total, np.array(means), np.array(covariances)


def rauch_tung_striebel(F, Q, means, covariances, drive=None):
    """Smoothed means and covariances."""
    x, P = means[-1], covariances[-1]
    smoothed = [(x, P)]
    for k in reversed(range(len(means) - 1)):
        ahead, spread = F @ means[k] + (0.0 if drive is None else drive[k]), F @ covariances[k] @ F.T + Q
        G = np.linalg.lstsq(spread, F @ covariances[k], rcond=1e-15)[0].T
        x, P = means[k] + G @ (x - ahead), covariances[k] + G @ (P - spread) @ G.T
        smoothed.append((x, P))
    return tuple(np.array(each)[::-1] for each in zip(*smoothed, strict=True))
