# cpack makes a Debian package that installs into a scratch root and is removed from it without a trace. Called with the
# build folder and cmake. Skipped where there is no dpkg.
set -u
build=$1 cmake=$2
[[ -z ${FLOTSAM_SLOW:-} ]] || exit 77 # libraries with sanitizers are not packed
for program in dpkg dpkg-deb dpkg-shlibdeps; do
  command -v "$program" >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_failed=0
fail() {
  printf 'FAILED: %s\n' "$*"
  n_failed=$((n_failed + 1))
}

"${cmake%cmake}cpack" --config "$build/CPackConfig.cmake" -B "$work/pack" >"$work/log" 2>&1 || { cat "$work/log"; fail "cpack"; }
package=$(find "$work/pack" -maxdepth 1 -name 'flotsam_*.deb')
[[ -n $package ]] || { fail "there is no package"; exit 1; }
version=$(dpkg-deb -f "$package" Version) depends=$(dpkg-deb -f "$package" Depends)
printf '%s %s: %s\n' "$(dpkg-deb -f "$package" Package)" "$version" "$depends"
[[ $depends == *libc6* && $depends != *flotsam* ]] || fail "the package depends on '$depends'"

# A root with nothing but dpkg's own files. The scripts of the package call ldconfig, which must not touch this system.
mkdir "$work/bin"
printf '#!/bin/sh\nexit 0\n' >"$work/bin/ldconfig"
chmod +x "$work/bin/ldconfig"
root=$work/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers}
: >"$root/var/lib/dpkg/status"
dpkg_in_root() { PATH=$work/bin:$PATH dpkg --force-script-chrootless --root="$root" --force-not-root --force-depends --force-bad-path "$@" >"$work/log" 2>&1; }

dpkg_in_root -i "$package" || { cat "$work/log"; fail "installing"; }
for file in bin/flotsam include/flotsam/flotsam.h share/doc/flotsam/LICENSE share/doc/flotsam/docs/library.md \
  share/flotsam/scene.schema.json share/man/man1/flotsam.1 share/flotsam/scenes/default.json; do
  [[ -s $root/usr/$file ]] || fail "usr/$file is not in the package"
done
library=$(find "$root/usr" -name 'libflotsam.so')
[[ -n $library ]] || fail "there is no library in the package"
LD_LIBRARY_PATH=$(dirname "$library") "$root/usr/bin/flotsam" --version | grep -q "$version" || fail "the installed program"

dpkg_in_root -r flotsam || { cat "$work/log"; fail "removing"; }
rest=$(find "$root/usr" -type f -o -type l 2>/dev/null)
[[ -z $rest ]] || fail "removing leaves $rest"
((n_failed == 0))
