#!/bin/sh
# Makes the accounts of the three kinds of process; the image of PostgreSQL runs it once.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
    --set web="$WEB_PASSWORD" --set worker="$WORKER_PASSWORD" --set releaser="$RELEASER_PASSWORD" \
    --set place="$POSTGRES_DB" <<'SQL'
CREATE ROLE liptest_web LOGIN PASSWORD :'web';
CREATE ROLE liptest_worker LOGIN PASSWORD :'worker';
CREATE ROLE liptest_releaser LOGIN PASSWORD :'releaser';
REVOKE ALL ON DATABASE :"place" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"place" TO liptest_web, liptest_worker, liptest_releaser;
SQL
