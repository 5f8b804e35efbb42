#!/bin/sh
# Stops the service when the package is removed, not when it is replaced by a newer one.
set -e
case "${1:-}" in
	upgrade | failed-upgrade | 1) exit 0 ;; # dpkg, rpm
esac
if [ -d /run/systemd/system ]; then
	systemctl disable --now toolfit.service || true
fi
