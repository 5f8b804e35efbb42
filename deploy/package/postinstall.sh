#!/bin/sh
# Makes the user that the service runs as. Nothing is started.
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers toolfit.conf || true
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
