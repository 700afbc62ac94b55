"""The vectors of images, which are stored in their own subfolder of the index directory."""

from typing import Final

IMAGES_DIR: Final = "image-vectors"  # in the folder of an index
