"""normalize-columns: the file with scikit-learn, against NumPy."""

import numpy as np

from tests.helpers import load_snippet


def test_by_the_training_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = load_snippet("data/normalize_columns_sklearn.py")
    train = found.table[:80]
    for rows, x in ((found.train, found.x_train), (found.val, found.x_val)):
        expected = (rows - train.mean(0)) / train.std(0)
        np.testing.assert_allclose(x, expected, rtol=1e-4, atol=1e-6)
    assert (tmp_path / "scaler.joblib").exists()
