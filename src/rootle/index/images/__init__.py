"""The vectors of images, which are stored beside the index."""

from typing import Final

IMAGES_DIR: Final = "image-vectors"  # in the folder of an index
