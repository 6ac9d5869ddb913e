// SPDX-License-Identifier: Apache-2.0
// truth: Searches are slow when the query has a leading wildcard ("kind" is "any"), since Lucene then walks through all terms.
// jars: maven:org.apache.lucene:lucene-core:9.12.0
import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.WildcardQuery;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;

/** A catalogue of 300,000 names; one search in thirty begins with a wildcard. */
public class Wildcard {
	record Ask(String kind, String text) {}

	static final class Catalogue {
		private final IndexSearcher searcher;

		Catalogue(IndexSearcher searcher) {
			this.searcher = searcher;
		}

		long search(Ask ask) throws Exception {
			return count(ask.kind().equals("any") ? new WildcardQuery(new Term("name", "*" + ask.text() + "*7"))
							      : new TermQuery(new Term("name", ask.text())));
		}

		private long count(Query query) throws Exception {
			return searcher.search(query, 10).totalHits.value;
		}
	}

	public static void main(String[] args) throws Exception {
		Directory directory = new ByteBuffersDirectory();
		try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(new StandardAnalyzer()))) {
			for (int i = 0; i < 300_000; i++) {
				Document d = new Document();
				d.add(new StringField("name", Integer.toString(i * 7919, 36) + "-" + i, Field.Store.NO));
				writer.addDocument(d);
			}
		}
		Catalogue catalogue = new Catalogue(new IndexSearcher(DirectoryReader.open(directory)));
		for (int t = 0; t < 2; t++) {
			Random random = new Random(t);
			new Thread(() -> {
				try {
					for (;;) {
						int n = random.nextInt(300_000);
						catalogue.search(random.nextInt(30) == 0 ? new Ask("any", "z" + n % 10)
											 : new Ask("name", Integer.toString(n * 7919, 36) + "-" + n));
						Thread.sleep(15);
					}
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			}, "search-" + t).start();
		}
		System.out.println("ready");
	}
}
