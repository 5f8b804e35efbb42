-- How a server is spoken to, and how long and for whom its lists hold.

ALTER TABLE servers ADD COLUMN era TEXT NOT NULL DEFAULT ''; -- legacy or modern; '' where it is not known
ALTER TABLE servers ADD COLUMN ttl BIGINT NOT NULL DEFAULT 0; -- microseconds; -1 where the server does not say
ALTER TABLE servers ADD COLUMN private_to TEXT NOT NULL DEFAULT ''; -- a digest of the credentials that the lists are for; '' for any
