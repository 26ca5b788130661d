#!/usr/bin/env bash
# Makes the moving picture of the README from a run of the scene 'default'.
#
#   tools/readme_movie.sh runs/default docs/default.gif
set -euo pipefail

run=$1 gif=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${FLOTSAM_PROGRAM:-$root/build/bin/flotsam}" render "$run" --frames 8:44:2 --width 480 --height 270 --quiet --out "$work"
# One palette for all frames keeps the file small.
ffmpeg -v error -y -framerate 12 -pattern_type glob -i "$work/picture_*.png" -loop 0 \
  -vf 'split[a][b];[a]palettegen=max_colors=96[p];[b][p]paletteuse=dither=bayer:bayer_scale=4' "$gif"
