-- What llm 0.26 writes, made by its own Python API; the tables that calls are read from.
CREATE TABLE [conversations] ( [id] TEXT PRIMARY KEY, [name] TEXT, [model] TEXT );
CREATE TABLE [prompt_attachments] ( [response_id] TEXT REFERENCES [responses]([id]), [attachment_id] TEXT REFERENCES [attachments]([id]), [order] INTEGER, PRIMARY KEY ([response_id], [attachment_id]) );
CREATE TABLE "responses" ( [id] TEXT PRIMARY KEY, [model] TEXT, [prompt] TEXT, [system] TEXT, [prompt_json] TEXT, [options_json] TEXT, [response] TEXT, [response_json] TEXT, [conversation_id] TEXT REFERENCES [conversations]([id]), [duration_ms] INTEGER, [datetime_utc] TEXT, [input_tokens] INTEGER, [output_tokens] INTEGER, [token_details] TEXT, [schema_id] TEXT REFERENCES [schemas]([id]) );
CREATE TABLE [fragments] ( [id] INTEGER PRIMARY KEY, [hash] TEXT, [content] TEXT, [datetime_utc] TEXT, [source] TEXT );
CREATE TABLE "prompt_fragments" ( [response_id] TEXT REFERENCES [responses]([id]), [fragment_id] INTEGER REFERENCES [fragments]([id]), [order] INTEGER, PRIMARY KEY ([response_id], [fragment_id], [order]) );
CREATE TABLE "system_fragments" ( [response_id] TEXT REFERENCES [responses]([id]), [fragment_id] INTEGER REFERENCES [fragments]([id]), [order] INTEGER, PRIMARY KEY ([response_id], [fragment_id], [order]) );
CREATE TABLE [tool_calls] ( [id] INTEGER PRIMARY KEY, [response_id] TEXT REFERENCES [responses]([id]), [tool_id] INTEGER REFERENCES [tools]([id]), [name] TEXT, [arguments] TEXT, [tool_call_id] TEXT );
CREATE TABLE "tool_results" ( [id] INTEGER PRIMARY KEY, [response_id] TEXT REFERENCES [responses]([id]), [tool_id] INTEGER REFERENCES [tools]([id]), [name] TEXT, [output] TEXT, [tool_call_id] TEXT, [instance_id] INTEGER REFERENCES [tool_instances]([id]) );
INSERT INTO "conversations" VALUES('01m8gaqp7yytdd432w3yacxxqh','hello','echo');
INSERT INTO "conversations" VALUES('01m8gaqpba655krpgy3t792x77','use tool','echo');
INSERT INTO "conversations" VALUES('01m8gaqpfpxtn9ta4dzy8aq5ad','one','echo');
INSERT INTO "fragments" VALUES(1,'74da50563fad6ca76801b352e7a94a0d60311d3f8a594c5619872a51242baf53','A long novel.
','2026-11-28 05:41:02',NULL);
INSERT INTO "prompt_attachments" VALUES('01m8gaqp92teej87vmhv6m545d','b9ac7ba8db36fdb3045579383e912c8b8b70cc96af69663a720d2856b83197eb',0);
INSERT INTO "prompt_fragments" VALUES('01m8gaqp92teej87vmhv6m545d',1,0);
INSERT INTO "responses" VALUES('01m8gaqp7yytdd432w3yacxxqj','echo','hello','be brief',NULL,'{}','Echo: hello',NULL,'01m8gaqp7yytdd432w3yacxxqh',0,'2026-11-28T05:41:02.846518+00:00',10,5,NULL,NULL);
INSERT INTO "responses" VALUES('01m8gaqp92teej87vmhv6m545d','echo','again',NULL,NULL,'{}','Echo: A long novel.

again',NULL,'01m8gaqp7yytdd432w3yacxxqh',0,'2026-11-28T05:41:02.882491+00:00',10,5,NULL,NULL);
INSERT INTO "responses" VALUES('01m8gaqpbct6m66xh55s4e6dbv','echo','use tool',NULL,NULL,'{}','',NULL,'01m8gaqpba655krpgy3t792x77',0,'2026-11-28T05:41:02.956283+00:00',10,5,NULL,NULL);
INSERT INTO "responses" VALUES('01m8gaqpe2f40ydnc1e7mm3d6k','echo','',NULL,NULL,'{}','Echo: ',NULL,'01m8gaqpba655krpgy3t792x77',0,'2026-11-28T05:41:03.042496+00:00',10,5,NULL,NULL);
INSERT INTO "responses" VALUES('01m8gaqpfpxtn9ta4dzy8aq5ae','echo','one','be kind',NULL,'{}','Echo: one',NULL,'01m8gaqpfpxtn9ta4dzy8aq5ad',0,'2026-11-28T05:41:03.094520+00:00',10,5,NULL,NULL);
INSERT INTO "responses" VALUES('01m8gaqpgth7c2zgftc1m181xw','echo','two',NULL,NULL,'{}','Echo: two',NULL,'01m8gaqpfpxtn9ta4dzy8aq5ad',0,'2026-11-28T05:41:03.130470+00:00',10,5,NULL,NULL);
INSERT INTO "tool_calls" VALUES(1,'01m8gaqpbct6m66xh55s4e6dbv',1,'lookup','{"id": 3}','c1');
INSERT INTO "tool_results" VALUES(1,'01m8gaqpe2f40ydnc1e7mm3d6k',1,'lookup','found 3','c1',NULL);
