CREATE TABLE about (version INTEGER NOT NULL, position BIGINT NOT NULL);
INSERT INTO about VALUES (0, 0);

-- One row for each event. Times are milliseconds since 1970; text is never NULL.
CREATE TABLE events (
	website         BIGINT NOT NULL,
	ms              BIGINT NOT NULL,
	visitor         UBIGINT NOT NULL,
	visit           UBIGINT NOT NULL,
	kind            UTINYINT NOT NULL,
	name            VARCHAR NOT NULL,
	page            VARCHAR NOT NULL,
	hostname        VARCHAR NOT NULL,
	referrer        VARCHAR NOT NULL,
	source          VARCHAR NOT NULL,
	channel         VARCHAR NOT NULL,
	utm_source      VARCHAR NOT NULL,
	utm_medium      VARCHAR NOT NULL,
	utm_campaign    VARCHAR NOT NULL,
	utm_content     VARCHAR NOT NULL,
	utm_term        VARCHAR NOT NULL,
	country         VARCHAR NOT NULL,
	region          VARCHAR NOT NULL,
	city            VARCHAR NOT NULL,
	language        VARCHAR NOT NULL,
	browser         VARCHAR NOT NULL,
	browser_version VARCHAR NOT NULL,
	os              VARCHAR NOT NULL,
	os_version      VARCHAR NOT NULL,
	device          VARCHAR NOT NULL,
	screen          VARCHAR NOT NULL,
	amount          DOUBLE NOT NULL,
	unit            VARCHAR NOT NULL,
	props           MAP(VARCHAR, VARCHAR),
	engagement      UINTEGER NOT NULL,
	depth           UTINYINT NOT NULL
);

-- What was left out: how much on each UTC day for each reason, and the newest samples.
CREATE TABLE exclusions (website BIGINT NOT NULL, day BIGINT NOT NULL, reason VARCHAR NOT NULL, events BIGINT NOT NULL);
CREATE TABLE samples (website BIGINT NOT NULL, ms BIGINT NOT NULL, reason VARCHAR NOT NULL, page VARCHAR NOT NULL, agent VARCHAR NOT NULL);
