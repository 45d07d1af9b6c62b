"""Two CITE-seq experiments with different genes and proteins, by what they share and by what any has.

python examples/python/different_genes.py
"""

from pathlib import Path

import lamella as lm

DATA = Path(__file__).resolve().parents[2] / "tests/data/real"


def main() -> None:
    paths = {"5k": DATA / "scvi-pbmc_5k_protein_v3.h5ad", "10k": DATA / "scvi-pbmc_10k_protein_v3.h5ad"}
    for join in ("inner", "outer"):
        both = lm.concat(paths, join=join, label="experiment", index_unique="-", merge="same")
        print(f"{join}: {both.shape}, {both.obs['experiment'].value_counts().to_dict()}")
        print("  proteins:", both.obsm["protein_expression"])
        genes = both.var_names[:3].tolist()
        print("  mean of", dict(zip(genes, both[:, genes].X.mean(axis=0).round(3).tolist(), strict=True)))


if __name__ == "__main__":
    main()
