#!/bin/sh
# Reports and installs what the tests need besides Go and is missing.
#
#   install.sh --check    only reports
#   install.sh            reports what it will install and how, then installs it
#
# With COUNTERSIGN_INSTALL=no it only reports, too.
#
# System packages are installed by the system's package manager, as root or with sudo -n.
# Tests whose tools are missing are skipped and say so. With COUNTERSIGN_REQUIRE=all,
# anything missing is a failure.
set -u
cd "$(dirname "$0")/../.." || exit 1

check=
[ "${1:-}" != --check ] && [ "${COUNTERSIGN_INSTALL:-}" != no ] || check=1
names='' packages=''

for manager in apt-get dnf apk brew none; do command -v $manager >/dev/null && break; done

# wants TEST NAME DEBIAN FEDORA ALPINE BREW: if TEST fails, NAME is missing, and the
# system's package has it.
wants() {
	! eval "$1" >/dev/null 2>&1 || return 0
	names="$names $2"
	case $manager in
	apt-get) packages="$packages $3" ;;
	dnf) packages="$packages $4" ;;
	apk) packages="$packages $5" ;;
	brew) packages="$packages $6" ;;
	esac
}

# missing determines what is missing.
missing() {
	names='' packages=''
	wants 'command -v age' age age age age age
	[ "$(uname)" != Linux ] || wants 'command -v systemd-analyze' systemd-analyze systemd systemd '' ''
	wants 'command -v groff' groff groff groff groff groff
	wants 'command -v curl' curl curl curl curl curl
	wants 'command -v jq' jq jq jq jq jq
	wants 'command -v zbarimg' zbarimg zbar-tools zbar-tools zbar zbar
	[ "$(uname)" != Linux ] || wants 'command -v qemu-aarch64-static' qemu-aarch64-static qemu-user-static qemu-user-static qemu-aarch64 ''
	# Debian has it without windows, too.
	wants 'command -v chromium-headless-shell || command -v chromium' chromium chromium-headless-shell chromium chromium chromium
	wants 'command -v openssl' openssl openssl openssl openssl openssl
	wants 'command -v ssh-keygen' ssh-keygen openssh-client openssh openssh-keygen openssh
	wants 'command -v softhsm2-util' softhsm2-util softhsm2 softhsm softhsm softhsm
	wants 'command -v pkcs11-tool' pkcs11-tool opensc opensc opensc opensc
	wants 'command -v p11-kit' p11-kit 'p11-kit p11-kit-modules' 'p11-kit p11-kit-server' 'p11-kit p11-kit-server' p11-kit
	[ "$(uname)" != Linux ] || wants 'command -v ip' ip iproute2 iproute iproute2 ''
	[ "$(uname)" != Linux ] || wants 'command -v debootstrap' debootstrap debootstrap debootstrap debootstrap ''
	wants 'command -v rpm' rpm rpm rpm rpm rpm
	# The package also installs a server, which nothing here starts.
	wants 'command -v promtool' promtool prometheus golang-github-prometheus prometheus prometheus
	wants 'command -v node && command -v npm' node 'nodejs npm' nodejs 'nodejs npm' node
	# Debian keeps the server's programs out of PATH.
	wants 'command -v initdb || ls /usr/lib/postgresql/*/bin/initdb' initdb postgresql postgresql-server postgresql postgresql
	# Debian keeps it out of the PATH of users.
	wants 'command -v pgbouncer || ls /usr/sbin/pgbouncer' pgbouncer pgbouncer pgbouncer pgbouncer pgbouncer
	npm=
	for folder in interop interop/evm; do
		cmp -s $folder/package-lock.json $folder/node_modules/.countersign-lock || npm="$npm $folder"
	done
}

say() { echo "testenv: $*" >&2; }

# report reports what is missing, and fails if everything is required.
report() {
	[ -z "$names" ] || say "not installed:$names"
	[ -z "$npm" ] || say "not installed: the npm packages of$npm"
	[ -n "$names$npm" ] || return 0
	say "the tests that need them are skipped; make test-deps installs them"
	[ "${COUNTERSIGN_REQUIRE:-}" != all ]
}

# announce says, on the first line of make test, what is about to be installed and how to run
# without.
announce() {
	[ -n "$packages$npm" ] || return 0
	what=
	[ -z "$packages" ] || what=" system packages with $manager, as root:$packages"
	[ -z "$npm" ] || what="$what${what:+; and} the npm packages of$npm"
	say "installing$what (to run the tests without: make test COUNTERSIGN_INSTALL=no)"
}

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# install_packages installs the missing system packages.
install_packages() {
	[ -n "$packages" ] || return 0
	case $manager in
	apt-get)
		as_root apt-get -q update >&2
		as_root env DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $packages >&2
		;;
	dnf) as_root dnf -qy install $packages >&2 ;;
	apk) as_root apk add -q $packages >&2 ;;
	brew) brew install -q $packages >&2 ;;
	esac
}

# install_npm installs the npm packages of the lock files.
install_npm() {
	[ -n "$npm" ] && command -v npm >/dev/null || return 0
	for folder in $npm; do
		(cd $folder && npm ci --loglevel=error >&2) &&
			cp $folder/package-lock.json $folder/node_modules/.countersign-lock
	done
}

missing
if [ -z "$check" ]; then
	announce
	install_packages
	install_npm
	missing
fi
report
