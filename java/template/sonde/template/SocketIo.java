// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.net.DatagramPacket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.util.SondeProbe;
import sonde.Here;

/** Sockets: with whom. Bytes are the business of {@link Bytes}. */
final class SocketIo {
    /** connect(SocketAddress, ...). The address's text never asks a name server. */
    static void connect() {
        long token = SondeProbe.enter(Here.id());
        SondeProbe.text(Here.id(), token, "peer", Here.arg(1));
        Here.body();
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** Socket accept(). */
    static void accept() {
        long token = SondeProbe.enter(Here.id());
        Here.body();
        try {
            Socket socket = (Socket) Here.result();
            if (socket != null) {
                SondeProbe.text(Here.id(), token, "peer", socket.getRemoteSocketAddress());
            }
        } catch (Throwable e) {
            // the socket does not tell
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** SocketChannel accept(). */
    static void acceptChannel() {
        long token = SondeProbe.enter(Here.id());
        Here.body();
        try {
            SocketChannel channel = (SocketChannel) Here.result();
            if (channel != null) {
                SondeProbe.text(Here.id(), token, "peer", channel.getRemoteAddress());
            }
        } catch (Throwable e) {
            // closed again already
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** int send(ByteBuffer, SocketAddress). */
    static void sendTo() {
        long token = SondeProbe.enter(Here.id());
        SondeProbe.text(Here.id(), token, "peer", Here.arg(2));
        Here.body();
        SondeProbe.bytes(Here.id(), token, Here.intResult());
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** send(DatagramPacket) and receive(DatagramPacket). */
    static void packet() {
        DatagramPacket packet = (DatagramPacket) Here.arg(1);
        long token = SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null) {
            try {
                SondeProbe.bytes(Here.id(), token, packet.getLength());
                SondeProbe.text(Here.id(), token, "peer", packet.getSocketAddress());
            } catch (Throwable e) {
                // sent by a connected socket: the packet has no address
            }
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
