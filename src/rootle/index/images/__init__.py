"""Image vectors, which are stored in a subfolder of the index directory."""

from typing import Final

IMAGES_DIR: Final = "image-vectors"  # in the folder of an index
