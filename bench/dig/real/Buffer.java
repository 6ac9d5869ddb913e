// SPDX-License-Identifier: Apache-2.0
// truth: Journal.add waits for room in the buffer of Kafka's client (BufferPool.allocate), which a slow broker keeps full.
// jars: maven:org.apache.kafka:kafka-clients:3.9.0 debian:slf4j-api debian:slf4j-nop
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.ResponseHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Lines that go to a broker in another process, which takes 400 ms for each batch. */
public class Buffer {
	static final class Journal {
		private final Producer<byte[], byte[]> producer;

		Journal(Producer<byte[], byte[]> producer) {
			this.producer = producer;
		}

		int add(int number) {
			byte[] line = new byte[3000];
			line[number % 3000] = 1;
			producer.send(new ProducerRecord<>("lines", line));
			return number + 1;
		}
	}

	/** As much of a broker as a producer asks for: one topic with one partition. */
	static final class Broker {
		private final int port;

		Broker(int port) {
			this.port = port;
		}

		ApiMessage answer(ApiKeys key) throws InterruptedException {
			switch (key) {
			case API_VERSIONS:
				ApiVersionsResponseData.ApiVersionCollection versions = new ApiVersionsResponseData.ApiVersionCollection();
				for (ApiKeys k : List.of(ApiKeys.API_VERSIONS, ApiKeys.METADATA, ApiKeys.PRODUCE))
					versions.add(new ApiVersionsResponseData.ApiVersion().setApiKey(k.id)
							     .setMinVersion(k == ApiKeys.PRODUCE ? (short) 3 : 0)
							     .setMaxVersion(k == ApiKeys.API_VERSIONS ? (short) 3 : (short) 8));
				return new ApiVersionsResponseData().setApiKeys(versions);
			case METADATA:
				MetadataResponseData data = new MetadataResponseData().setClusterId("bench").setControllerId(1);
				data.brokers().add(new MetadataResponseData.MetadataResponseBroker().setNodeId(1).setHost("127.0.0.1").setPort(port));
				data.topics().add(new MetadataResponseData.MetadataResponseTopic().setName("lines").setPartitions(List.of(
					new MetadataResponseData.MetadataResponsePartition().setPartitionIndex(0).setLeaderId(1)
						.setReplicaNodes(List.of(1)).setIsrNodes(List.of(1)))));
				return data;
			default:
				Thread.sleep(400);
				ProduceResponseData.TopicProduceResponseCollection topics = new ProduceResponseData.TopicProduceResponseCollection();
				topics.add(new ProduceResponseData.TopicProduceResponse().setName("lines").setPartitionResponses(List.of(
					new ProduceResponseData.PartitionProduceResponse().setIndex(0).setBaseOffset(0))));
				return new ProduceResponseData().setResponses(topics);
			}
		}

		void serve(Socket s) {
			try (s) {
				DataInputStream in = new DataInputStream(s.getInputStream());
				DataOutputStream out = new DataOutputStream(s.getOutputStream());
				for (;;) {
					byte[] request = new byte[in.readInt()];
					in.readFully(request);
					RequestHeader asked = RequestHeader.parse(ByteBuffer.wrap(request));
					ResponseHeader header = asked.toResponseHeader();
					ByteBuffer head = MessageUtil.toByteBuffer(header.data(), header.headerVersion());
					ByteBuffer body = MessageUtil.toByteBuffer(answer(asked.apiKey()), asked.apiVersion());
					out.writeInt(head.remaining() + body.remaining());
					out.write(head.array(), head.arrayOffset() + head.position(), head.remaining());
					out.write(body.array(), body.arrayOffset() + body.position(), body.remaining());
					out.flush();
				}
			} catch (java.io.EOFException | java.net.SocketException e) {
				// the client has gone
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		}
	}

	static void serve() throws Exception {
		ServerSocket server = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"));
		Broker broker = new Broker(server.getLocalPort());
		System.out.println(server.getLocalPort());
		new Thread(() -> {
			try {
				while (System.in.read() >= 0)
					continue;
			} catch (java.io.IOException e) {
				// as good as its end
			}
			System.exit(0);
		}).start();
		for (;;) {
			Socket s = server.accept();
			new Thread(() -> broker.serve(s)).start();
		}
	}

	public static void main(String[] args) throws Exception {
		if (args.length > 0) {
			serve();
			return;
		}
		Process other = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-Xmx48m", "-cp",
			System.getProperty("java.class.path"), "Buffer", "serve").redirectError(ProcessBuilder.Redirect.INHERIT).start();
		String port = new BufferedReader(new InputStreamReader(other.getInputStream())).readLine();
		Journal journal = new Journal(new KafkaProducer<>(Map.of("bootstrap.servers", "127.0.0.1:" + port, "acks", "1",
			"enable.idempotence", "false", "buffer.memory", "65536", "batch.size", "16384", "max.in.flight.requests.per.connection", "1",
			"max.block.ms", "60000"), new ByteArraySerializer(), new ByteArraySerializer()));
		for (int t = 0; t < 4; t++) {
			int first = t;
			new Thread(() -> {
				for (int i = first;; i++) {
					journal.add(i);
					java.util.concurrent.locks.LockSupport.parkNanos(50_000_000);
				}
			}, "line-" + t).start();
		}
		System.out.println("ready");
	}
}
