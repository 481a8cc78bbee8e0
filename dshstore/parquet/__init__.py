"""The documented views as Parquet files. They need the extra `dshstore[parquet]`.

`write_views` writes them; `VIEWS` tells their columns and what these hold.
"""

from dshstore.parquet.views import VIEWS, Kind
from dshstore.parquet.writing import ExportedView, write_views

__all__ = ["VIEWS", "ExportedView", "Kind", "write_views"]
